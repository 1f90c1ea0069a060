! A stencil of five points with OpenMP target. What it conserves is known: a field that is linear in both directions stays
! as it is, and a peak spreads without loss as long as it is away from the border.
module heat
  implicit none
  integer, parameter :: n = 64
contains
  subroutine step(old, new)
    real(8), intent(in) :: old(n, n)
    real(8), intent(inout) :: new(n, n)
    integer :: i, j
    !$omp target teams distribute parallel do collapse(2) ! region heat::step
    do j = 2, n - 1
      do i = 2, n - 1
        new(i, j) = old(i, j) + 0.125d0 * (old(i - 1, j) + old(i + 1, j) + old(i, j - 1) + old(i, j + 1) - 4 * old(i, j))
      end do
    end do
  end subroutine
end module

program main
  use heat
  implicit none
  real(8) :: a(n, n), b(n, n), total
  integer :: i, j, k, failures
  failures = 0
  do j = 1, n
    do i = 1, n
      a(i, j) = i + 2 * j
    end do
  end do
  b = a
  !$omp target data map(tofrom: a) map(to: b)
  do k = 1, 3
    call step(a, b)
    call step(b, a)
  end do
  !$omp end target data
  total = 0
  do j = 1, n
    do i = 1, n
      total = max(total, abs(a(i, j) - (i + 2 * j)))
    end do
  end do
  if (total /= 0) failures = failures + 1
  print '(a, f8.3)', 'linear ', total

  a = 0
  b = 0
  a(n / 2, n / 2) = 4096
  !$omp target data map(tofrom: a) map(to: b)
  do k = 1, 3
    call step(a, b)
    call step(b, a)
  end do
  !$omp end target data
  total = 0
  !$omp target teams distribute parallel do reduction(+: total) map(to: a) ! region main program
  do j = 1, n
    total = total + sum(a(:, j))
  end do
  if (total /= 4096) failures = failures + 1
  print '(a, f10.3, f10.3)', 'peak ', total, a(n / 2, n / 2)
  if (failures /= 0) stop 1
end program

! The same stencil with OpenACC, in two queues.
subroutine step(n, old, new, queue)
  implicit none
  integer, intent(in) :: n, queue
  real(8), intent(in) :: old(n, n)
  real(8), intent(inout) :: new(n, n)
  integer :: i, j
  !$acc parallel loop gang vector collapse(2) present(old, new) async(queue) ! region step
  do j = 2, n - 1
    do i = 2, n - 1
      new(i, j) = old(i, j) + 0.125d0 * (old(i - 1, j) + old(i + 1, j) + old(i, j - 1) + old(i, j + 1) - 4 * old(i, j))
    end do
  end do
end subroutine

program main
  implicit none
  integer, parameter :: n = 64
  real(8) :: a(n, n), b(n, n), c(n, n), d(n, n), total
  integer :: i, j, k, failures
  failures = 0
  do j = 1, n
    do i = 1, n
      a(i, j) = i + 2 * j
    end do
  end do
  b = a
  c = 0
  d = 0
  c(n / 2, n / 2) = 4096
  !$acc data copy(a, c) copyin(b, d)
  do k = 1, 3
    call step(n, a, b, 1)
    call step(n, c, d, 2)
    call step(n, b, a, 1)
    call step(n, d, c, 2)
  end do
  !$acc wait
  total = 0
  !$acc parallel loop reduction(+: total) present(c) ! region main program
  do j = 1, n
    do i = 1, n
      total = total + c(i, j)
    end do
  end do
  !$acc end data
  if (total /= 4096) failures = failures + 1
  print '(a, f10.3, f10.3)', 'peak ', total, c(n / 2, n / 2)
  total = 0
  do j = 1, n
    do i = 1, n
      total = max(total, abs(a(i, j) - (i + 2 * j)))
    end do
  end do
  if (total /= 0) failures = failures + 1
  print '(a, f8.3)', 'linear ', total
  if (failures /= 0) stop 1
end program

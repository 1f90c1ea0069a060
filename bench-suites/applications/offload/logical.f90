! Reductions over lanes that part within a loop: they meet again before they exchange what they have found.
program main
  use omp_lib
  implicit none
  integer, parameter :: n = 1024
  logical :: a(n), found
  integer :: factors(n), threads(n), x, k, product, expected, failures
  failures = 0
  do k = 1, 3
    do x = 1, n
      a(x) = mod(x, 700) == 3 .and. k /= 2
      factors(x) = merge(2, 1, mod(x, 100) == 7)
    end do
    found = .false.
    product = 1
    !$omp target parallel num_threads(8) map(tofrom: found, a, threads)
    !$omp loop reduction(.or.: found)
    do x = 1, n
      found = found .or. a(x)
    end do
    !$omp end loop
    !$omp do
    do x = 1, n
      threads(x) = omp_get_num_threads()
    end do
    !$omp end do
    !$omp end target parallel
    !$omp target parallel num_threads(8) map(tofrom: product, factors)
    !$omp loop reduction(*: product)
    do x = 1, n
      product = product * factors(x)
    end do
    !$omp end loop
    !$omp end target parallel
    expected = 2**11
    print *, 'found', found, product
    if ((found .neqv. any(a)) .or. product /= expected .or. any(threads /= 8)) failures = failures + 1
  end do
  if (failures /= 0) stop 1
end program

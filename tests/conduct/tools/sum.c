double volatile result;
double x[10] = {1, 2, 3};

double sum(void) {
  double s = 0;
  for (int i = 0; i < 10; i++) s += x[i];
  return s;
}

int main(void) {
  result = sum();
  return 0;
}

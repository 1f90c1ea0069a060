/* The ten references of the paper's Figure 5: a c d b c e g e d d. Their stack distances are 2 1 4 0 after six first ones. */
enum { a, b, c, d, e, g, cells };
static volatile double cell[cells];

double figure5(void) {
  return cell[a] + cell[c] + cell[d] + cell[b] + cell[c] + cell[e] + cell[g] + cell[e] + cell[d] + cell[d];
}

int main(void) { return figure5() != 0; }

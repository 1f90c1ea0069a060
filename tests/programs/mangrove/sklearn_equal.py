"""mangrove's forests are as good as scikit-learn's ExtraTreesRegressor: on Friedman's function, for each criterion and
rule, the mean errors over several seeds differ by no more than their spread. Usage: sklearn_equal.py MANGROVE"""
import csv
import math
import subprocess
import sys
import tempfile

try:
    import numpy
    from sklearn.ensemble import ExtraTreesRegressor
except ImportError:
    print("kernelcast-skipped: no scikit-learn (python3-sklearn)")
    sys.exit(0)

SEEDS, TREES, FEATURES = 6, 64, 12
CRITERIA = {"mse": "squared_error", "mae": "absolute_error"}
RULES = {"all": 1.0, "sqrt": "sqrt"}


def friedman(random, n):
    x = random.uniform(size=(n, FEATURES)).astype(numpy.float32)
    y = 10 * numpy.sin(math.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]
    return x, y + 5 + random.normal(size=n)


def write(path, header, rows):
    with open(path, "w", newline="") as out:
        csv.writer(out, lineterminator="\n").writerows([header, *rows])


def ours(program, folder, tested, criterion, rule, seed):
    model = f"{folder}/model.json"
    subprocess.run([program, "train", "--features", f"{folder}/x.csv", "--targets", f"{folder}/y.csv", "--target",
                    "power_w", "--trees", str(TREES), "--criterion", criterion, "--max-features", rule, "--seed",
                    str(seed), "-o", model], check=True)
    out = subprocess.run([program, "predict", "--model", model, tested], check=True, capture_output=True, text=True)
    return numpy.array([float(row["power_w"]) for row in csv.DictReader(out.stdout.splitlines())])


def main(program):
    random = numpy.random.RandomState(1)
    (x, y), (x_test, y_test) = friedman(random, 300), friedman(random, 500)
    y = numpy.maximum(y, 0.1)
    names = [f"f{i}" for i in range(FEATURES)]
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        rows = lambda data: [[f"k{i}", "c", *map(repr, map(float, row))] for i, row in enumerate(data)]
        write(f"{folder}/x.csv", ["kernel", "case", *names], rows(x))
        write(f"{folder}/test.csv", ["kernel", "case", *names], rows(x_test))
        write(f"{folder}/y.csv", ["kernel", "case", "power_w"], [[f"k{i}", "c", repr(float(v))] for i, v in enumerate(y)])
        for criterion, theirs in CRITERIA.items():
            for rule, share in RULES.items():
                error = lambda p: math.sqrt(numpy.mean((p - y_test) ** 2))
                a = [error(ours(program, folder, f"{folder}/test.csv", criterion, rule, s)) for s in range(SEEDS)]
                b = [error(ExtraTreesRegressor(TREES, criterion=theirs, max_features=share, random_state=s).fit(x, y)
                           .predict(x_test)) for s in range(SEEDS)]
                spread = math.sqrt((numpy.var(a, ddof=1) + numpy.var(b, ddof=1)) / SEEDS)
                distance = abs(numpy.mean(a) - numpy.mean(b))
                good = distance <= 4 * spread + 0.002
                failed |= not good
                print(f"{criterion} {rule}: mangrove {numpy.mean(a):.4f}, scikit-learn {numpy.mean(b):.4f}, "
                      f"distance {distance:.4f}, standard error {spread:.4f}: {'ok' if good else 'DIFFERENT'}")
    return failed


sys.exit(main(sys.argv[1]))

"""What mangrove exports as ONNX is a valid model that predicts what mangrove predicts; the trees are walked here, by the
attributes of the operator. Usage: onnx_equal.py MANGROVE"""
import csv
import math
import random
import subprocess
import sys
import tempfile

try:
    import onnx
except ImportError:
    print("kernelcast-skipped: no onnx (python3-onnx)")
    sys.exit(0)


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def walk(trees, leaves, x):
    total = 0.0
    for tree, nodes in trees.items():
        node = 0
        while (feature_threshold := nodes[node])[0] == b"BRANCH_LEQ":
            _, feature, threshold, yes, no = feature_threshold
            node = yes if x[feature] <= threshold else no
        total += leaves[tree, node]
    return total / len(trees)


class Ensemble:
    def __init__(self, node):
        a = {attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in node.attribute}
        assert a["aggregate_function"] == b"AVERAGE" and a["n_targets"] == 1
        self.trees = {}
        for row in zip(a["nodes_treeids"], a["nodes_nodeids"], a["nodes_modes"], a["nodes_featureids"],
                       a["nodes_values"], a["nodes_truenodeids"], a["nodes_falsenodeids"]):
            self.trees.setdefault(row[0], {})[row[1]] = row[2:]
        self.leaves = dict(zip(zip(a["target_treeids"], a["target_nodeids"]), a["target_weights"]))

    def __call__(self, x):
        return walk(self.trees, self.leaves, x)


def evaluate(graph, x):
    """The graph's output for one row: what its operators say, one after the other."""
    values = {initializer.name: initializer.float_data[0] for initializer in graph.initializer}
    values["features"] = x
    operators = {"Exp": math.exp, "Add": lambda a, b: a + b, "Clip": lambda v, low, high: min(max(v, low), high)}
    for node in graph.node:
        run_node = Ensemble(node) if node.op_type == "TreeEnsembleRegressor" else operators[node.op_type]
        values[node.output[0]] = run_node(*(values[name] for name in node.input))
    return values["prediction"]


def check(program, folder, target, operators, *options):
    model, exported = f"{folder}/m.json", f"{folder}/m.onnx"
    run(program, "train", "--features", f"{folder}/f.csv", "--targets", f"{folder}/t.csv", "--target", target, "--trees",
        "9", "-o", model, *options)
    run(program, "export", "--onnx", "--model", model, "-o", exported)
    proto = onnx.load(exported)
    onnx.checker.check_model(proto)
    assert [node.op_type for node in proto.graph.node] == operators
    several = "--device-feature" in options
    speeds = dict(SPEEDS) if several else {"": None}
    devices = ("--devices", f"{folder}/d.csv") if several else ()
    predicted = csv.DictReader(run(program, "predict", "--model", model, *devices, f"{folder}/asked.csv").splitlines())
    asked = [[float(row[f"f{i}"]) for i in range(3)] for row in csv.DictReader(open(f"{folder}/asked.csv"))]
    worst, rows = 0.0, 0
    for x, ours in zip((x for x in asked for _ in speeds), predicted):
        speed = speeds[ours["device"]] if several else None
        value = evaluate(proto.graph, x + ([speed] if several else []))
        worst, rows = max(worst, abs(value / float(ours[target]) - 1)), rows + 1
    print(f"{target} {' '.join(options[:4])}: valid, {rows} rows, largest relative distance {worst:.2g}")
    assert worst < 1e-5 and rows == len(asked) * len(speeds)


SPEEDS = (("slow", 1.0), ("fast", 4.0), ("new", 2.5))


def main(program):
    random.seed(1)
    with tempfile.TemporaryDirectory() as folder:
        for name, count in (("f", 60), ("asked", 40)):
            with open(f"{folder}/{name}.csv", "w") as out:
                out.write("kernel,case,f0,f1,f2\n")
                out.writelines(f"k{i},c,{random.randint(0, 999)},{random.randint(0, 9)},{random.randint(0, 99)}\n"
                               for i in range(count))
        with open(f"{folder}/d.csv", "w") as out:
            out.write("device,speed\n")
            out.writelines(f"{name},{speed}\n" for name, speed in SPEEDS)
        for devices in (["slow"], ["slow", "fast"]):
            with open(f"{folder}/t.csv", "w") as out:
                out.write("kernel,case,device,time_s,power_w\n")
                out.writelines(f"k{i},c,{device},{10 ** random.uniform(-6, 0):.6g},{random.randint(50, 250)}\n"
                               for i in range(60) for device in devices)
            if len(devices) == 1:
                check(program, folder, "time_s", ["TreeEnsembleRegressor", "Exp"])
                check(program, folder, "power_w", ["TreeEnsembleRegressor"])
            else:
                check(program, folder, "time_s", ["TreeEnsembleRegressor", "TreeEnsembleRegressor", "Add", "Exp", "Clip"],
                      "--target-form", "ratio", "--device-feature", "speed", "--devices", f"{folder}/d.csv")


main(sys.argv[1])

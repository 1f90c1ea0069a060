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


def check(program, folder, target, log):
    model, exported = f"{folder}/m.json", f"{folder}/m.onnx"
    run(program, "train", "--features", f"{folder}/f.csv", "--targets", f"{folder}/t.csv", "--target", target, "--trees",
        "9", "-o", model)
    run(program, "export", "--onnx", "--model", model, "-o", exported)
    proto = onnx.load(exported)
    onnx.checker.check_model(proto)
    assert [node.op_type for node in proto.graph.node] == ["TreeEnsembleRegressor"] + (["Exp"] if log else [])
    a = {attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in proto.graph.node[0].attribute}
    assert a["aggregate_function"] == b"AVERAGE" and a["n_targets"] == 1
    trees = {}
    for row in zip(a["nodes_treeids"], a["nodes_nodeids"], a["nodes_modes"], a["nodes_featureids"], a["nodes_values"],
                   a["nodes_truenodeids"], a["nodes_falsenodeids"]):
        trees.setdefault(row[0], {})[row[1]] = row[2:]
    leaves = dict(zip(zip(a["target_treeids"], a["target_nodeids"]), a["target_weights"]))
    worst = 0.0
    predicted = csv.DictReader(run(program, "predict", "--model", model, f"{folder}/asked.csv").splitlines())
    asked = csv.DictReader(open(f"{folder}/asked.csv"))
    for ours, row in zip(predicted, asked):
        value = walk(trees, leaves, [float(row[f"f{i}"]) for i in range(3)])
        value = math.exp(value) if log else value
        worst = max(worst, abs(value / float(ours[target]) - 1))
    print(f"{target}: valid, {len(trees)} trees, largest relative distance {worst:.2g}")
    assert worst < 1e-5


def main(program):
    random.seed(1)
    with tempfile.TemporaryDirectory() as folder:
        for name, count in (("f", 60), ("asked", 40)):
            with open(f"{folder}/{name}.csv", "w") as out:
                out.write("kernel,case,f0,f1,f2\n")
                out.writelines(f"k{i},c,{random.randint(0, 999)},{random.randint(0, 9)},{random.randint(0, 99)}\n"
                               for i in range(count))
        with open(f"{folder}/t.csv", "w") as out:
            out.write("kernel,case,time_s,power_w\n")
            out.writelines(f"k{i},c,{10 ** random.uniform(-6, 0):.6g},{random.randint(50, 250)}\n" for i in range(60))
        check(program, folder, "time_s", True)
        check(program, folder, "power_w", False)


main(sys.argv[1])

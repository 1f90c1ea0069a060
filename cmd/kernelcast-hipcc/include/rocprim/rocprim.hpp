#error rocPRIM has no counterpart of CUDA's; hipCUB has

#error rocBLAS has no counterpart of CUDA's; hipBLAS has

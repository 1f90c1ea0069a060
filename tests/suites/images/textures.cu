// Every texture and surface function of CUDA C++, at places whose value is known: texels count from 0.
texture<float, 2, cudaReadModeElementType> plain;
texture<uchar4, 2, cudaReadModeNormalizedFloat> fractions;
static texture<float4> positions;

extern "C" __global__ void objects(cudaTextureObject_t line, cudaTextureObject_t row, cudaTextureObject_t plane,
                                   cudaTextureObject_t volume, cudaTextureObject_t rows, cudaTextureObject_t planes,
                                   cudaTextureObject_t cube, cudaTextureObject_t cubes, cudaTextureObject_t bytes,
                                   float* out) {
  int i = 0;
  out[i++] = tex1Dfetch<float>(line, 3);
  out[i++] = tex1Dfetch<float>(line, 64);
  out[i++] = tex1D<float>(row, 2.5f);
  out[i++] = tex1DLod<float>(row, 4.5f, 0.0f);
  out[i++] = tex1DGrad<float>(row, 5.5f, 0.1f, 0.1f);
  float4 v = tex2D<float4>(plane, 1.5f, 2.5f);
  out[i++] = v.y;
  tex2D(&v, plane, 0.5f, 1.5f);
  out[i++] = v.w;
  out[i++] = tex2DLod<float4>(plane, 3.5f, 0.5f, 0.0f).x;
  out[i++] = tex2DGrad<float4>(plane, 3.5f, 3.5f, make_float2(0, 0), make_float2(0, 0)).z;
  out[i++] = tex3D<float>(volume, 1.5f, 2.5f, 3.5f);
  out[i++] = tex3DLod<float>(volume, 0.5f, 0.5f, 1.5f, 0.0f);
  out[i++] = tex3DGrad<float>(volume, 1.5f, 0.5f, 1.5f, make_float4(0, 0, 0, 0), make_float4(0, 0, 0, 0));
  out[i++] = tex1DLayered<float>(rows, 2.5f, 1);
  out[i++] = tex1DLayeredLod<float>(rows, 1.5f, 2, 0.0f);
  out[i++] = tex2DLayered<float>(planes, 1.5f, 2.5f, 1);
  out[i++] = tex2DLayeredLod<float>(planes, 1.5f, 2.5f, 0, 0.0f);
  out[i++] = texCubemap<float>(cube, 2.0f, 0.0f, 0.0f);
  out[i++] = texCubemap<float>(cube, -0.5f, 0.0f, 0.0f);
  out[i++] = texCubemap<float>(cube, 0.0f, 1.0f, 0.9f);
  out[i++] = texCubemapLayered<float>(cubes, 0.0f, 0.0f, -1.0f, 1);
  float4 g = tex2Dgather<float4>(plane, 2.0f, 2.0f, 1);
  out[i++] = g.x;
  out[i++] = g.y;
  out[i++] = g.z;
  out[i++] = g.w;
  uchar4 b = tex2D<uchar4>(bytes, 1.5f, 0.5f);
  out[i++] = b.x + 1000 * b.w;
  out[i++] = tex2D<unsigned char>(bytes, 2.5f, 1.5f);
}

extern "C" __global__ void surfaces(cudaSurfaceObject_t row, cudaSurfaceObject_t plane, cudaSurfaceObject_t volume,
                                    cudaSurfaceObject_t rows, cudaSurfaceObject_t planes, cudaSurfaceObject_t cube,
                                    float* out) {
  int x = threadIdx.x;
  surf1Dwrite((float)x, row, 4 * x);
  surf2Dwrite(make_float2(x, -x), plane, 8 * x, 1);
  surf3Dwrite((unsigned short)(x + 7), volume, 2 * x, 1, 2);
  surf1DLayeredwrite((unsigned char)(x + 1), rows, x, 2);
  surf2DLayeredwrite(make_float4(x, 1, 2, 3), planes, 16 * x, 1, 1);
  surfCubemapwrite(x * 3, cube, 4 * (x % 2), x / 2 % 2, 5);
  surf2Dwrite(1.0f, plane, -4, 0, cudaBoundaryModeZero);
  __syncthreads();
  out += 8 * x;
  out[0] = surf1Dread<float>(row, 4 * x);
  out[1] = surf2Dread<float2>(plane, 8 * x, 1).y;
  out[2] = surf3Dread<unsigned short>(volume, 2 * x, 1, 2);
  out[3] = surf1DLayeredread<unsigned char>(rows, x, 2);
  out[4] = surf2DLayeredread<float4>(planes, 16 * x, 1, 1).x;
  int last;
  surfCubemapread(&last, cube, 4 * (x % 2), x / 2 % 2, 5);
  out[5] = last;
  out[6] = surf1Dread<float>(row, 4 * (x + 4), cudaBoundaryModeZero);
  out[7] = surf1Dread<float>(row, 4 * (x + 4), cudaBoundaryModeClamp);
}

extern "C" __global__ void references(float* out) {
  out[0] = tex2D(plain, 3.5f, 2.5f);
  out[1] = tex2D(fractions, 1.5f, 0.5f).w;
  out[2] = tex1Dfetch(positions, 5).y;
}

"""Triton for sm_90: products by wgmma, of tiles by tensor maps from the host and from the kernel, in specialised warps."""
from triton_device import attention
from triton_tiles import check_attention, check_products

check_products("wgmma.mma_async")
check_attention(attention)

"""RDMA-TSO (Ambal and others, OOPSLA 2024)."""

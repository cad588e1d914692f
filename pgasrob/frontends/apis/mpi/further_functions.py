"""The functions of MPI 4.0 that are not supported: what is none of these and not supported is no function of MPI."""

from __future__ import annotations

_OF_MPI = """
    Add_error_class Add_error_code Add_error_string Allgather_init Allgatherv_init Allreduce_init Alltoall_init
    Alltoallv Alltoallv_init Alltoallw Alltoallw_init Barrier_init Bcast_init Bsend_init Buffer_detach Cancel
    Cart_map Close_port Comm_accept Comm_call_errhandler Comm_connect Comm_create_from_group Comm_dup_with_info
    Comm_get_parent Comm_idup Comm_idup_with_info Comm_join Comm_remote_group Comm_remote_size Comm_set_info
    Comm_spawn Comm_spawn_multiple Comm_test_inter Dist_graph_create Dist_graph_create_adjacent Dist_graph_neighbors
    Dist_graph_neighbors_count Errhandler_get Exscan_init File_call_errhandler File_delete File_get_amode
    File_get_atomicity File_get_byte_offset File_get_group File_get_info File_get_position_shared
    File_get_type_extent File_get_view File_iread File_iread_all File_iread_at File_iread_at_all File_iread_shared
    File_iwrite File_iwrite_all File_iwrite_at File_iwrite_at_all File_iwrite_shared File_read_all_begin
    File_read_all_end File_read_at_all_begin File_read_at_all_end File_read_ordered_begin File_read_ordered_end
    File_set_info File_write_all_begin File_write_all_end File_write_at_all_begin File_write_at_all_end
    File_write_ordered_begin File_write_ordered_end Gather_init Gatherv_init Get_elements Get_elements_x
    Graph_create Graph_get Graph_map Graph_neighbors Graph_neighbors_count Graphdims_get Grequest_complete
    Grequest_start Group_from_session_pset Group_range_excl Group_range_incl Iallgatherv Ialltoall Ialltoallv
    Ialltoallw Ibsend Iexscan Igather Igatherv Improbe Imrecv Ineighbor_allgather Ineighbor_allgatherv
    Ineighbor_alltoall Ineighbor_alltoallv Ineighbor_alltoallw Info_create_env Intercomm_create
    Intercomm_create_from_groups Intercomm_merge Ireduce_scatter Ireduce_scatter_block Irsend Iscan Iscatter
    Iscatterv Isendrecv Isendrecv_replace Issend Lookup_name Mprobe Mrecv Neighbor_allgather Neighbor_allgather_init
    Neighbor_allgatherv Neighbor_allgatherv_init Neighbor_alltoall Neighbor_alltoall_init Neighbor_alltoallv
    Neighbor_alltoallv_init Neighbor_alltoallw Neighbor_alltoallw_init Op_commutative Op_create Open_port
    Pack_external Pack_external_size Parrived Pready Pready_list Pready_range Precv_init Psend_init Publish_name
    Recv_init Reduce_init Reduce_local Reduce_scatter_block_init Reduce_scatter_init Register_datarep
    Request_get_status Rsend_init Scan_init Scatter_init Scatterv_init Send_init Sendrecv_replace
    Session_call_errhandler Session_create_errhandler Session_finalize Session_get_errhandler Session_get_info
    Session_get_nth_pset Session_get_num_psets Session_get_pset_info Session_init Session_set_errhandler Ssend_init
    Start Startall Status_set_cancelled Status_set_elements Status_set_elements_x Test_cancelled Type_create_darray
    Type_create_f90_complex Type_create_f90_integer Type_create_f90_real Type_create_keyval Type_delete_attr
    Type_free_keyval Type_get_attr Type_get_contents Type_get_extent_x Type_get_name Type_get_true_extent_x
    Type_match_size Type_set_attr Unpack_external Unpublish_name Win_call_errhandler
"""
_OF_TOOLS = """
    category_changed category_get_categories category_get_cvars category_get_index category_get_info
    category_get_num category_get_pvars cvar_get_index cvar_get_info cvar_get_num cvar_handle_alloc cvar_handle_free
    cvar_read cvar_write enum_get_info enum_get_item finalize init_thread pvar_get_index pvar_get_info pvar_get_num
    pvar_handle_alloc pvar_handle_free pvar_read pvar_readreset pvar_reset pvar_session_create pvar_session_free
    pvar_start pvar_stop pvar_write
"""
_WITH_HANDLES_OF_FORTRAN = "Comm Errhandler File Group Info Message Op Request Session Status Type Win"

FURTHER = frozenset(
    (
        *(f"MPI_{name}" for name in _OF_MPI.split()),
        *(f"MPI_T_{name}" for name in _OF_TOOLS.split()),
        *(f"MPI_{name}_{way}" for name in _WITH_HANDLES_OF_FORTRAN.split() for way in ("c2f", "f2c")),
    )
)

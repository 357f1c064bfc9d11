/* SPDX-License-Identifier: Apache-2.0 */
/* What the mock ICD can do wrong with OpenGL and EGL sharing; faults.h explains the form. They do something only where
 * a platform has the extensions. VALUE 0 is CL_SUCCESS: what the rule refuses is taken.
 */

/* --- for the checks of a loader --- */

/* Answers error VALUE (default CL_INVALID_OPERATION) to every function of OpenGL and EGL sharing. */
FAULT(gl_functions_answer)
/* Answers error VALUE to contexts of EGL's display that are fine, on a platform, and to the query about them. */
FAULT(gl_egl_context_answers)
/* Says on a platform that VALUE devices correspond to an OpenGL context, whichever way it is asked. */
FAULT(gl_devices)

/* --- contexts --- */

/* Answers VALUE to contexts of GLX's display that are fine, on a platform. */
FAULT(gl_glx_context_answers)
/* Answers VALUE where display and context denote no context, on a platform. */
FAULT(gl_bogus_context_answers)
/* Answers VALUE to an OpenGL context without buffer and renderbuffer objects, on a platform. */
FAULT(gl_context_without_buffers_answers)
/* Answers VALUE to an OpenGL context of other hardware, on a platform. */
FAULT(gl_foreign_context_answers)
/* Answers VALUE where a binding API is named that the OpenGL does not have, on a platform. */
FAULT(gl_missing_binding_answers)
/* Answers VALUE where more than one display or share group is given, on a platform. */
FAULT(gl_two_displays_answer)
/* Answers VALUE where both a share group and a context are given, on a platform. */
FAULT(gl_share_group_and_context_answer)
/* Answers VALUE to a share group that is fine, on a platform. */
FAULT(gl_share_group_answers)
/* Answers VALUE where a share group is invalid, on a platform. */
FAULT(gl_bogus_share_group_answers)
/* Answers VALUE where a device cannot share, on a platform. */
FAULT(gl_other_device_answers)
/* Answers VALUE where attributes are given, all with their default values, on a platform. */
FAULT(gl_default_attributes_answer)
/* Answers VALUE to CL_CONTEXT_INTEROP_USER_SYNC beside an attribute of OpenGL, on a platform. */
FAULT(gl_user_sync_answers)
/* Does not look at the attributes of OpenGL in clCreateContextFromType, on a platform. */
FAULT(gl_attributes_unchecked_from_type)

/* --- clGetGLContextInfoKHR --- */

/* Does not look at what the attributes denote in clGetGLContextInfoKHR, on a platform. */
FAULT(gl_info_attributes_unchecked)
/* Answers VALUE to a query that clGetGLContextInfoKHR does not have, on a platform. */
FAULT(gl_info_unknown_query_answers)
/* Answers VALUE to attributes that clGetGLContextInfoKHR does not know, on a platform. */
FAULT(gl_info_unknown_attribute_answers)
/* Answers VALUE to an attribute that is listed twice in clGetGLContextInfoKHR, on a platform. */
FAULT(gl_info_repeated_attribute_answers)
/* Answers VALUE to CL_CONTEXT_PLATFORM in clGetGLContextInfoKHR, on a platform. */
FAULT(gl_info_platform_answers)
/* Answers VALUE where no device corresponds to the OpenGL context, on a platform. */
FAULT(gl_info_without_device_answers)
/* Gives an index in place of the current device, on a platform. */
FAULT(gl_info_gives_an_index)
/* Gives the platform in place of the current device, on a platform. */
FAULT(gl_info_gives_the_platform)
/* Lists another device in place of the current one among those of the OpenGL context, on a platform. */
FAULT(gl_info_lists_without_current)
/* Lists one device twice among those of the OpenGL context, on a platform. */
FAULT(gl_info_lists_twice)
/* Fills a buffer that is too short for the answer of clGetGLContextInfoKHR, with success, on a platform. */
FAULT(gl_info_short_buffer_is_filled)
/* Refuses a NULL output of clGetGLContextInfoKHR, on a platform. */
FAULT(gl_info_needs_memory)

/* --- memory objects of OpenGL --- */

/* Answers VALUE where a context is not of OpenGL, on a platform. */
FAULT(gl_plain_context_answers)
/* Answers VALUE to flags that are not flags of access, on a platform. */
FAULT(gl_other_flags_answer)
/* Answers VALUE to the name 0, on a platform. */
FAULT(gl_name_0_answers)
/* Answers VALUE to a name that no object of OpenGL has, on a platform. */
FAULT(gl_unused_name_answers)
/* Answers VALUE to a buffer that has no data store, on a platform. */
FAULT(gl_buffer_without_store_answers)
/* Answers VALUE to a buffer of size 0, on a platform. */
FAULT(gl_empty_buffer_answers)
/* Rounds the size of a buffer up to 64 bytes, on a platform. */
FAULT(gl_buffer_size_is_rounded)
/* Answers VALUE to a target that no texture can be made of, on a platform. */
FAULT(gl_other_texture_target_answers)
/* Answers VALUE to a texture of another target, on a platform. */
FAULT(gl_other_target_answers)
/* Answers VALUE to a level below 0, on a platform. */
FAULT(gl_negative_level_answers)
/* Answers VALUE to a level that a texture does not have, on a platform. */
FAULT(gl_missing_level_answers)
/* Answers VALUE to a texture that is incomplete, on a platform. */
FAULT(gl_incomplete_texture_answers)
/* Answers VALUE to a texture or renderbuffer of width 0, on a platform. */
FAULT(gl_empty_texture_answers)
/* Answers VALUE to an internal format that OpenCL does not have, on a platform. */
FAULT(gl_unmapped_format_answers)
/* Answers VALUE to a texture with a border, on a platform. */
FAULT(gl_border_answers)
/* Answers VALUE to a renderbuffer with several samples, on a platform. */
FAULT(gl_multisample_renderbuffer_answers)
/* Loses the data of a memory object when it goes back to OpenGL, on a platform. */
FAULT(gl_store_dies_at_release)

/* --- their queries --- */

/* Refuses a NULL output of clGetGLObjectInfo, on a platform. */
FAULT(gl_object_info_needs_both)
/* Says that the type of every object of OpenGL is VALUE, on a platform. */
FAULT(gl_object_type_is)
/* Says that the name of every object of OpenGL is VALUE, on a platform. */
FAULT(gl_object_name_is)
/* Answers VALUE to clGetGLObjectInfo for a memory object that is not of OpenGL, on a platform. */
FAULT(gl_object_info_of_others_answers)
/* Says that the target of every texture is VALUE, on a platform. */
FAULT(gl_texture_target_is)
/* Says that the level of every texture is VALUE, on a platform. */
FAULT(gl_texture_level_is)
/* Answers VALUE to a query that clGetGLTextureInfo does not have, on a platform. */
FAULT(gl_texture_info_unknown_query_answers)
/* Answers VALUE to clGetGLTextureInfo without any output, on a platform. */
FAULT(gl_texture_info_of_nothing_answers)
/* Answers VALUE to clGetGLTextureInfo for an object that is not a texture, on a platform. */
FAULT(gl_texture_info_of_others_answers)
/* Fills a buffer that is too short for the answer of clGetGLTextureInfo, with success, on a platform. */
FAULT(gl_texture_info_short_buffer_is_filled)

/* --- acquire, release, and commands on what is acquired --- */

/* Answers VALUE where nothing is acquired or released, on a platform. */
FAULT(gl_acquire_nothing_answers)
/* Answers VALUE where a list of no objects is not NULL, on a platform. */
FAULT(gl_acquire_zero_with_list_answers)
/* Answers VALUE where a list of objects is NULL, on a platform. */
FAULT(gl_acquire_null_list_answers)
/* Answers VALUE where a memory object is not of OpenGL, on a platform. */
FAULT(gl_acquire_of_others_answers)
/* Answers VALUE where the context of the queue is not of OpenGL, on a platform. */
FAULT(gl_plain_queue_answers)
/* Answers VALUE where a wait list is NULL and should not be, on a platform. */
FAULT(gl_null_wait_list_answers)
/* Answers VALUE where a wait list is not NULL and has no events, on a platform. */
FAULT(gl_empty_wait_list_answers)
/* Answers VALUE where an event of a wait list is invalid, on a platform. */
FAULT(gl_bad_event_answers)
/* Refuses commands on an acquired object in other queues than the one that acquired it, on a platform. */
FAULT(gl_acquired_for_one_queue)
/* Answers VALUE to acquire and release in queues of other devices than the first, on a platform. */
FAULT(gl_acquire_on_other_device_answers)
/* Does not wait for OpenGL when it acquires: its data is what was there before, on a platform. */
FAULT(gl_acquire_does_not_wait)
/* Answers VALUE to the seven commands that read, write, copy, map and fill depth-stencil images, on a platform. */
FAULT(gl_depth_stencil_command_answers)
/* Answers VALUE to the seven commands that read, write, copy, map and fill multi-sample images, on a platform. */
FAULT(gl_multisample_command_answers)

/* --- events of syncs of OpenGL and EGL --- */

/* Answers VALUE to a sync of OpenGL in a context that is not of OpenGL, on a platform. */
FAULT(gl_sync_plain_context_answers)
/* Answers VALUE to a handle that is not a sync of OpenGL, on a platform. */
FAULT(gl_unknown_sync_answers)
/* Says that the command type of an event of a sync is VALUE, on a platform. */
FAULT(gl_sync_event_type_is)
/* Says that the status of an event of a sync is VALUE, on a platform. */
FAULT(gl_sync_event_status_is)
/* Says that an event of a sync has a queue, on a platform. */
FAULT(gl_sync_event_has_queue)
/* Makes events of syncs with VALUE references, on a platform. */
FAULT(gl_sync_event_references_are)
/* Does not know the status of an event of a sync when it is asked a second time, on a platform. */
FAULT(gl_sync_event_dies_with_sync)
/* Answers VALUE to an acquire that waits for a sync of OpenGL, on a platform. */
FAULT(gl_sync_acquire_answers)
/* Answers VALUE to other commands that wait for a sync of OpenGL, on a platform. */
FAULT(gl_sync_command_answers)
/* Answers VALUE to a sync of EGL in a context that is not of OpenGL, on a platform. */
FAULT(egl_sync_plain_context_answers)
/* Answers VALUE to a handle that is not a sync of the EGL display, on a platform. */
FAULT(egl_unknown_sync_answers)
/* Answers VALUE to a sync of EGL that is not a fence, on a platform. */
FAULT(egl_other_sync_answers)
/* Answers VALUE to an acquire or release that waits for a sync of EGL, on a platform. */
FAULT(egl_sync_acquire_answers)
/* Answers VALUE to other commands that wait for a sync of EGL, on a platform. */
FAULT(egl_sync_command_answers)

/* --- images of EGL --- */

/* Answers VALUE to a property list without properties, on a platform. */
FAULT(egl_empty_list_answers)
/* Answers VALUE to any property of an image of EGL, on a platform. */
FAULT(egl_property_answers)
/* Answers VALUE to a handle that is not a display of EGL, on a platform. */
FAULT(egl_display_answers)
/* Answers VALUE to a handle that is not an image of EGL, on a platform. */
FAULT(egl_unknown_image_answers)
/* Answers VALUE to an image of EGL whose format OpenCL does not have, on a platform. */
FAULT(egl_unmapped_format_answers)
/* Answers VALUE to flags that are not for images of EGL, on a platform. */
FAULT(egl_other_flags_answer)
/* Answers VALUE to read-only access to an image of EGL, on a platform. */
FAULT(egl_required_flags_answer)
/* Answers VALUE to write access to an image of EGL that can only be read, on a platform. */
FAULT(egl_write_answers)
/* Answers VALUE where nothing of EGL is acquired or released, on a platform. */
FAULT(egl_acquire_nothing_answers)
/* Answers VALUE where a list of no objects of EGL is not NULL, on a platform. */
FAULT(egl_acquire_zero_with_list_answers)
/* Answers VALUE where a list of objects of EGL is NULL, on a platform. */
FAULT(egl_acquire_null_list_answers)
/* Answers VALUE where a memory object is not of EGL, on a platform. */
FAULT(egl_acquire_of_others_answers)

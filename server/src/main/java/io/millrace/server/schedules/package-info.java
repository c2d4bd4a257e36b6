/**
 * The schedules over HTTP, under {@code /schedules}, and what they can run: each target joins the
 * schedules with another layer.
 */
@NullMarked
package io.millrace.server.schedules;

import org.jspecify.annotations.NullMarked;

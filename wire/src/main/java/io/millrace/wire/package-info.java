/** The JSON forms of tasks, commands and answers, for the server and its clients. */
@NullMarked
package io.millrace.wire;

import org.jspecify.annotations.NullMarked;

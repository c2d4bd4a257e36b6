/** The task store over HTTP, and a loop for workers. */
@NullMarked
package io.millrace.client;

import org.jspecify.annotations.NullMarked;

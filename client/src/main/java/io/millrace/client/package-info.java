/** Clients of a server: the task store and blobs over HTTP, JSON APIs, and workers. */
@NullMarked
package io.millrace.client;

import org.jspecify.annotations.NullMarked;

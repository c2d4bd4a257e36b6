/** Values too large for the store, by name, streamed. */
@NullMarked
package io.millrace.blobs;

import org.jspecify.annotations.NullMarked;

/** Blobs over HTTP: {@code /blobs}, for whoever keeps payloads that are too large for the store. */
@NullMarked
package io.millrace.server.blobs;

import org.jspecify.annotations.NullMarked;

/** Blobs over HTTP: {@code /blobs}, for payloads that are too large for the store. */
@NullMarked
package io.millrace.server.blobs;

import org.jspecify.annotations.NullMarked;

/** Blobs in a MongoDB database. */
@NullMarked
package io.millrace.blobs.mongo;

import org.jspecify.annotations.NullMarked;

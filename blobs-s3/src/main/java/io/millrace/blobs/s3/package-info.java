/** Blobs in a bucket that is reached by the protocol of Amazon S3. */
@NullMarked
package io.millrace.blobs.s3;

import org.jspecify.annotations.NullMarked;

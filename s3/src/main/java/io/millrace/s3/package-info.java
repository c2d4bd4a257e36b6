/** Buckets that are reached by the protocol of Amazon S3: their addresses, and clients for them. */
@NullMarked
package io.millrace.s3;

import org.jspecify.annotations.NullMarked;

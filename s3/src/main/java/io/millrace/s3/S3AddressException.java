package io.millrace.s3;

/** The address of a bucket is wrong, or it leads to no bucket that can be used. */
public final class S3AddressException extends RuntimeException {
  S3AddressException(String message) {
    super(message);
  }

  S3AddressException(String message, Throwable cause) {
    super(message, cause);
  }
}

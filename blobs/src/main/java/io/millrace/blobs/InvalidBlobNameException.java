package io.millrace.blobs;

/** A name is not valid for a blob; the message shows it and describes valid names. */
public final class InvalidBlobNameException extends BlobException {
  InvalidBlobNameException(String message) {
    super(message);
  }
}

package io.millrace.blobs;

/** A name that no blob can have; the message shows it and says what a name looks like. */
public final class InvalidBlobNameException extends BlobException {
  InvalidBlobNameException(String message) {
    super(message);
  }
}

package io.millrace.blobs;

/** No blob has the requested name. */
public final class NoSuchBlobException extends BlobException {
  private final String name;

  /** For the blob named {@code name}. */
  public NoSuchBlobException(String name) {
    super("there is no blob named " + name);
    this.name = name;
  }

  /** The requested name. */
  public String name() {
    return name;
  }
}

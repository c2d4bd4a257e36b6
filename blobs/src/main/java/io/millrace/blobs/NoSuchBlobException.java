package io.millrace.blobs;

/** Nothing has the name that was to be opened. */
public final class NoSuchBlobException extends BlobException {
  private final String name;

  /** For the blob named {@code name}. */
  public NoSuchBlobException(String name) {
    super("there is no blob named " + name);
    this.name = name;
  }

  /** The name that was asked for. */
  public String name() {
    return name;
  }
}

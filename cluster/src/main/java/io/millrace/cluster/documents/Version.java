package io.millrace.cluster.documents;

/**
 * The version of a document. Versions can only be compared for equality. A document that is deleted
 * and created again has none of its earlier versions.
 *
 * @param text the implementation's name for it; empty for {@link #NONE}
 */
public record Version(String text) {
  /** The version of a document that does not exist. */
  public static final Version NONE = new Version("");

  @Override
  public String toString() {
    return text.isEmpty() ? "none" : text;
  }
}

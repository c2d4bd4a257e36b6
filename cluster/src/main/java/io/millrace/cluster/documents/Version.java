package io.millrace.cluster.documents;

/**
 * One state of one document. Versions are compared for being the same and say nothing else; a
 * document that was deleted and made again has none of its earlier versions.
 *
 * @param text what the documents' home calls it; empty for {@link #NONE}
 */
public record Version(String text) {
  /** The version of a document that is not there. */
  public static final Version NONE = new Version("");

  @Override
  public String toString() {
    return text.isEmpty() ? "none" : text;
  }
}

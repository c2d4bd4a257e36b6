package io.millrace.cluster.documents.files;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * What the file of a version holds: a line with the key, and for the last of a segment a tab and
 * the next segment; then the content. Nothing follows the line if the document was deleted.
 *
 * @param key the document's key
 * @param next the segment in which the version after this one belongs; null but for the last one
 * @param json the content; null if this version says that the document was deleted
 */
record VersionFile(String key, Location.@Nullable Segment next, @Nullable String json) {
  byte[] bytes() {
    String line = next == null ? key : key + "\t" + next;
    return (line + "\n" + (json == null ? "" : json)).getBytes(StandardCharsets.UTF_8);
  }

  /**
   * Reads what {@link #bytes} wrote.
   *
   * @throws IOException when it is something else
   */
  static VersionFile read(byte[] bytes) throws IOException {
    String text = new String(bytes, StandardCharsets.UTF_8);
    int end = text.indexOf('\n');
    if (end < 1) {
      throw new IOException("the file of a version is damaged");
    }
    String json = end + 1 == text.length() ? null : text.substring(end + 1);
    int tab = text.lastIndexOf('\t', end);
    if (tab < 0) {
      return new VersionFile(text.substring(0, end), null, json);
    }
    Location.Segment next =
        Location.Segment.parse(text.substring(tab + 1, end))
            .orElseThrow(() -> new IOException("the file of a version is damaged"));
    return new VersionFile(text.substring(0, tab), next, json);
  }
}

package io.millrace.cli.wordcount;

import io.millrace.cli.terminal.Table;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * The counts, to be shown.
 *
 * @param counts the counts
 * @param text the file that long words are read from
 */
record Result(Counts counts, Path text) {
  private static final int MOST_FREQUENT = 10;
  private static final int SHOWN_LETTERS = 40;
  private static final int BUFFER_BYTES = 64 << 10;

  /** Prints {@code {"counts": {word: n}}} with every word, in order, long ones first. */
  void printJson(PrintStream out) throws IOException {
    OutputStream json = new BufferedOutputStream(out, BUFFER_BYTES);
    json.write(ascii("{\"counts\": {"));
    String comma = "";
    for (Map.Entry<String, Long> entry : counts.sorted().entrySet()) {
      json.write(ascii(comma + "\""));
      writeWord(json, entry.getKey(), Long.MAX_VALUE);
      json.write(ascii("\": " + entry.getValue()));
      comma = ", ";
    }
    json.write(ascii("}}\n"));
    json.flush();
  }

  /** Prints the most frequent words. */
  void printTop(PrintStream out) throws IOException {
    Map<String, Long> all = counts.sorted();
    long total = all.values().stream().mapToLong(Long::longValue).sum();
    out.println(total + " words, " + all.size() + " of them different; the most frequent:");
    List<Map.Entry<String, Long>> top =
        all.entrySet().stream()
            .sorted(
                Map.Entry.<String, Long>comparingByValue(Comparator.reverseOrder())
                    .thenComparing(Map.Entry.comparingByKey()))
            .limit(MOST_FREQUENT)
            .toList();
    Table table = new Table("COUNT", "WORD");
    for (Map.Entry<String, Long> entry : top) {
      var word = new ByteArrayOutputStream();
      writeWord(word, entry.getKey(), SHOWN_LETTERS);
      table.row(entry.getValue(), word.toString(StandardCharsets.US_ASCII));
    }
    table.print(out);
  }

  private void writeWord(OutputStream out, String word, long letters) throws IOException {
    if (!word.startsWith(Counts.LONG)) {
      out.write(ascii(word.substring(0, (int) Math.min(word.length(), letters))));
      return;
    }
    Counts.Place place = counts.place(word);
    try (FileChannel channel = FileChannel.open(text)) {
      ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
      long end = place.offset() + Math.min(place.length(), letters);
      for (long at = place.offset(); at < end; ) {
        buffer.clear().limit((int) Math.min(BUFFER_BYTES, end - at));
        int read = channel.read(buffer, at);
        if (read < 0) {
          throw new IOException("the text became shorter while it was read");
        }
        for (int i = 0; i < read; i++) {
          out.write(buffer.get(i) | 0x20);
        }
        at += read;
      }
    }
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}

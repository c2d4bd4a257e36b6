package io.millrace.examples.wordcount;

import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** The counts of all words. Long words are read from the text. */
public final class Result {
  private static final int BUFFER_BYTES = 64 << 10;

  private final Counts counts;
  private final Path text;

  Result(Counts counts, Path text) {
    this.counts = counts;
    this.text = text;
  }

  /** Prints {@code {"counts": {word: n}}} with every word, in order, long ones first. */
  public void printJson(PrintStream out) throws IOException {
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

  /** The number of words. */
  public long words() {
    return counts.sorted().values().stream().mapToLong(Long::longValue).sum();
  }

  /** The number of different words. */
  public int differentWords() {
    return counts.sorted().size();
  }

  /**
   * The most frequent words with their counts, the most frequent one first.
   *
   * @param number the maximum number of words
   * @param letters the maximum number of letters of each word
   */
  public List<Map.Entry<String, Long>> mostFrequent(int number, int letters) throws IOException {
    List<Map.Entry<String, Long>> top =
        counts.sorted().entrySet().stream()
            .sorted(
                Map.Entry.<String, Long>comparingByValue(Comparator.reverseOrder())
                    .thenComparing(Map.Entry.comparingByKey()))
            .limit(number)
            .toList();
    List<Map.Entry<String, Long>> shown = new ArrayList<>();
    for (Map.Entry<String, Long> entry : top) {
      var word = new ByteArrayOutputStream();
      writeWord(word, entry.getKey(), letters);
      shown.add(Map.entry(word.toString(StandardCharsets.US_ASCII), entry.getValue()));
    }
    return shown;
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

package io.millrace.examples.wordcount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WordReaderTest {
  @TempDir private Path folder = Path.of("");

  private Path file(byte[] content) throws IOException {
    return Files.write(folder.resolve("text"), content);
  }

  /** Counts by chunks, with the formats that the store holds. */
  private static Counts byPieces(Path file) throws IOException {
    Counts sum = new Counts();
    for (WordTasks.Chunk chunk : Text.split(file)) {
      Counts counts = WordReader.count(WordTasks.Chunk.parse(chunk.data()));
      counts
          .divide(chunk.partitions())
          .forEach((partition, part) ->
              sum.add(WordTasks.Part.parse(new WordTasks.Part(partition, part).data()).counts()));
    }
    return sum;
  }

  private static Map<String, Long> plainly(byte[] content) {
    Map<String, Long> counts = new TreeMap<>();
    for (String word : new String(content, StandardCharsets.ISO_8859_1).split("[^a-zA-Z]+", -1)) {
      if (!word.isEmpty()) {
        counts.merge(word.toLowerCase(Locale.ROOT), 1L, Long::sum);
      }
    }
    return counts;
  }

  @Test
  void the_chunks_of_any_bytes_have_the_words_of_the_whole() throws IOException {
    for (int seed = 0; seed < 50; seed++) {
      Random random = new Random(seed);
      byte[] content = new byte[random.nextInt(5_000)];
      random.nextBytes(content);
      for (int i = 0; i < content.length; i++) {
        if (random.nextInt(10) > 0) {
          content[i] = (byte) "abcXYZ \n@[`{".charAt(random.nextInt(12));
        }
      }
      assertThat(byPieces(file(content)).sorted()).as("seed %d", seed).isEqualTo(plainly(content));
    }
  }

  @Test
  void an_empty_text_has_one_chunk_without_words() throws IOException {
    assertThat(Text.split(file(new byte[0]))).hasSize(1);
    assertThat(byPieces(file(new byte[0])).sorted()).isEmpty();
  }

  @Test
  void words_of_any_length_are_counted_and_shown_whole() throws IOException {
    String kept = "k".repeat(WordReader.LONGEST_KEPT);
    String longer = "K".repeat(WordReader.LONGEST_KEPT + 1);
    String huge = "Ab".repeat(500_000);
    Path text =
        file((huge + " " + longer + " " + kept + " " + huge).getBytes(StandardCharsets.US_ASCII));
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    new Result(byPieces(text), text).printJson(new PrintStream(out, true, StandardCharsets.UTF_8));
    String json = out.toString(StandardCharsets.US_ASCII);
    assertThat(json)
        .startsWith("{\"counts\": {")
        .contains("\"" + kept + "\": 1")
        .contains("\"" + "k".repeat(WordReader.LONGEST_KEPT + 1) + "\": 1")
        .contains("\"" + "ab".repeat(500_000) + "\": 2");
  }
}

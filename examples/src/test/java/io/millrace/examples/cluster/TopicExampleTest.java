package io.millrace.examples.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.documents.files.FileDocuments;
import io.millrace.cluster.lock.LeaseTerms;
import io.millrace.cluster.member.ClusterWork;
import io.millrace.cluster.member.Member;
import io.millrace.cluster.shared.FaultyDocuments;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TopicExampleTest {
  private static final LeaseTerms TERMS = LeaseTerms.of(Duration.ofSeconds(1));
  private static final long BETWEEN_LOOKS_NANOS = 20_000_000;
  private static final Duration MOST = Duration.ofSeconds(60);

  private final VersionedDocuments documents;
  private final Path input;
  private final Path lines;
  private final TopicExample example;
  private int written;

  TopicExampleTest(@TempDir Path folder) throws IOException {
    documents = FileDocuments.open(folder.resolve("documents"));
    input = Files.createDirectory(folder.resolve("input"));
    lines = folder.resolve("lines");
    example = new TopicExample(documents, input, lines);
  }

  @AfterEach
  void close() {
    documents.close();
  }

  private void write(int files) throws IOException {
    for (int i = 0; i < files; i++) {
      Files.writeString(
          input.resolve("file-" + i),
          "line " + written++ + "\n",
          StandardOpenOption.CREATE,
          StandardOpenOption.APPEND);
    }
  }

  /** The lines of the output, each with its file, offset and text. */
  private List<String> brought() throws IOException {
    return Files.exists(lines)
        ? read(lines).map(line -> line.file() + " " + line.offset() + " " + line.line()).toList()
        : List.of();
  }

  private static Stream<FeedFile.Line> read(Path file) throws IOException {
    return Files.readAllLines(file).stream().map(FeedFile.Line::read).flatMap(Optional::stream);
  }

  private List<String> expected() throws IOException {
    try (Stream<Path> files = Files.list(input)) {
      return files.flatMap(TopicExampleTest::linesOf).toList();
    }
  }

  private static Stream<String> linesOf(Path file) {
    try {
      int[] offset = {0};
      return Files.readAllLines(file).stream()
          .map(line -> {
            String text = file.getFileName() + " " + offset[0] + " " + line;
            offset[0] += line.getBytes(StandardCharsets.UTF_8).length + 1;
            return text;
          });
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private void awaitAll() throws IOException {
    long end = System.nanoTime() + MOST.toNanos();
    while (brought().size() < written) {
      assertThat(System.nanoTime()).as("all lines come, %s", brought()).isLessThan(end);
      LockSupport.parkNanos(BETWEEN_LOOKS_NANOS);
    }
  }

  private Set<String> followers() throws IOException {
    return read(lines).map(FeedFile.Line::token).collect(Collectors.toSet());
  }

  @Test
  void every_line_is_copied_once_while_members_join_are_disconnected_and_leave()
      throws IOException {
    write(3);
    FaultyDocuments cut = new FaultyDocuments(documents);
    try (Member one = Member.start(documents, 1, TERMS, ClusterWork.of(example))) {
      awaitAll();
      assertThat(followers()).containsExactly(one.token());
      try (Member two = Member.start(cut, 1, TERMS, ClusterWork.of(example));
          Member three = Member.start(documents, 1, TERMS, ClusterWork.of(example))) {
        // Files that did not exist when the topic was divided are followed too.
        while (!followers().containsAll(Set.of(two.token(), three.token()))) {
          write(5);
          awaitAll();
        }
        cut.cut(true);
        write(5);
        awaitAll();
        cut.cut(false);
      }
      write(5);
      awaitAll();
    }
    assertThat(brought()).containsExactlyInAnyOrderElementsOf(expected());
    assertThat(brought().stream().sorted().toList()).as("none twice").doesNotHaveDuplicates();
  }

  @Test
  void a_topic_is_divided_evenly_and_each_later_file_belongs_to_one_part() {
    List<String> names = IntStream.range(0, 10).mapToObj(i -> "f" + i).toList();
    List<TopicExample.Part> parts =
        TopicExample.Part.tasks(names, 4).stream().map(TopicExample.Part::read).toList();
    assertThat(parts)
        .extracting(part -> names.stream().filter(part::has).count())
        .containsExactly(3L, 3L, 2L, 2L);
    for (int i = 0; i < 100; i++) {
      String later = "later-" + i;
      assertThat(parts.stream().filter(part -> part.has(later))).hasSize(1);
    }
  }
}

package io.millrace.examples.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.documents.files.FileDocuments;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class FileFollowerTest {
  private final VersionedDocuments documents;
  private final Path file;
  private final Path lines;

  FileFollowerTest(@TempDir Path folder) throws IOException {
    documents = FileDocuments.open(folder.resolve("documents"));
    file = folder.resolve("a b");
    lines = folder.resolve("lines");
    Files.writeString(file, "");
  }

  @AfterEach
  void close() {
    documents.close();
  }

  private FileFollower follower() {
    return new FileFollower(documents, file, new FeedFile(lines));
  }

  private void write(String text) throws IOException {
    Files.writeString(file, text, StandardOpenOption.APPEND);
  }

  @Test
  void complete_lines_are_copied_with_their_offsets() throws IOException {
    FileFollower follower = follower();
    assertThat(follower.step(new FixedGuard(1), "t")).isFalse();
    write("one\n\nthr");
    assertThat(follower.step(new FixedGuard(1), "t")).isTrue();
    assertThat(follower.step(new FixedGuard(1), "t")).isFalse();
    write("ee and ä\n");
    assertThat(follower.step(new FixedGuard(1), "t")).isTrue();
    assertThat(lines).hasContent("a\\sb 0 one t 1\na\\sb 4  t 1\na\\sb 5 three and ä t 1\n");
    assertThat(documents.list("offset/"))
        .singleElement()
        .extracting(VersionedDocument::json)
        .isEqualTo("{\"file\":\"a b\",\"offset\":18}");
  }

  @Test
  void the_next_follower_continues_at_the_stored_offset() throws IOException {
    write("one\n");
    follower().step(new FixedGuard(1), "t");
    write("two\n");
    follower().step(new FixedGuard(2), "u");
    assertThat(lines).hasContent("a\\sb 0 one t 1\na\\sb 4 two u 2\n");
  }

  @Test
  void lines_are_not_duplicated_if_the_offset_was_not_stored() throws IOException {
    write("one\ntwo\n");
    follower().step(new FixedGuard(1), "t");
    VersionedDocument offset = documents.list("offset/").getFirst();
    assertThat(documents.delete(offset.key(), offset.version())).isTrue();
    write("three\n");
    follower().step(new FixedGuard(2), "u");
    assertThat(lines).hasContent("a\\sb 0 one t 1\na\\sb 4 two t 1\na\\sb 8 three u 2\n");
  }

  @Test
  void a_late_follower_is_refused_and_replaces_no_line() throws IOException {
    FileFollower late = follower();
    late.step(new FixedGuard(1), "t");
    write("one\n");
    follower().step(new FixedGuard(2), "u");
    write("two\n");
    assertThatThrownBy(() -> late.step(new FixedGuard(1), "t"))
        .isInstanceOf(LineFile.StaleFenceException.class)
        .hasMessageContaining("'a b' at 0 with fence 1 comes after fence 2");
    follower().step(new FixedGuard(3), "v");
    assertThat(lines).hasContent("a\\sb 0 one u 2\na\\sb 4 two v 3\n");
  }

  @Test
  void a_line_that_is_longer_than_a_chunk_is_split() throws IOException {
    int piece = 1 << 20;
    write("x".repeat(piece) + "y\nz\n");
    FileFollower follower = follower();
    while (follower.step(new FixedGuard(1), "t")) {
      assertThat(lines).exists();
    }
    FeedFile another = new FeedFile(lines);
    assertThat(Files.readAllLines(lines))
        .hasSize(3)
        .element(2)
        .isEqualTo("a\\sb " + (piece + 2) + " z t 1");
    another.append(
        List.of(
            new FeedFile.Line("a b", piece, "y", "u", 2),
            new FeedFile.Line("a b", piece + 4, "q", "u", 2)));
    assertThat(Files.readAllLines(lines)).hasSize(4);
  }

  @Test
  void a_missing_file_has_no_lines() throws IOException {
    Files.delete(file);
    assertThat(follower().step(new FixedGuard(1), "t")).isFalse();
    assertThat(lines).doesNotExist();
  }

  @Test
  void a_replaced_output_is_read_again() throws IOException {
    FeedFile output = new FeedFile(lines);
    FeedFile.Line line = new FeedFile.Line("f", 7, "x", "t", 5);
    output.append(List.of(line));
    Files.writeString(lines, "");
    output.append(List.of(line));
    assertThat(lines).hasContent("f 7 x t 5\n");
  }
}

package io.millrace.blobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileBlobStoreTest extends BlobStoreContract {
  private final Path folder;
  private FileBlobStore blobs;

  FileBlobStoreTest(@TempDir Path folder) {
    this.folder = folder;
    this.blobs = FileBlobStore.open(folder);
  }

  @Override
  protected BlobStore blobs() {
    return blobs;
  }

  @Override
  protected long bytesArrived() {
    try {
      List<Path> incoming = incoming();
      return incoming.isEmpty() ? 0 : Files.size(incoming.getFirst());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void blobs_are_there_when_the_folder_is_opened_again() throws IOException {
    put("kept", "content");

    blobs = FileBlobStore.open(folder);

    assertThat(read("kept", 0)).isEqualTo("content");
  }

  @Test
  void blobs_are_spread_over_folders() throws IOException {
    IntStream.range(0, 100).forEach(i -> put("job-" + i, ""));

    try (Stream<Path> folders = Files.list(folder.resolve("data"))) {
      assertThat(folders.count()).isGreaterThan(80);
    }
    assertThat(list("job-")).hasSize(100);
  }

  @Test
  void a_full_disk_is_an_error_that_names_the_blob_and_leaves_what_was_there() throws IOException {
    Path full = Path.of("/dev/full");
    assumeTrue(Files.exists(full), "this system has no device that is always full");
    put("state", "old");
    FileBlobStore onFullDisk =
        new FileBlobStore(
            BlobFolders.open(folder), path -> FileChannel.open(full, StandardOpenOption.WRITE));

    assertThatThrownBy(() -> onFullDisk.put("state", new GeneratedStream(1, 100_000, () -> {})))
        .isInstanceOf(BlobException.class)
        .hasMessageContaining("state")
        .hasMessageContaining("No space left on device");

    assertThat(read("state", 0)).isEqualTo("old");
    assertThat(incoming()).isEmpty();
  }

  @Test
  void a_put_that_fails_leaves_no_file() {
    InputStream failing = new FailingStream("gone", () -> assertThat(incoming()).hasSize(1));

    assertThatThrownBy(() -> blobs.put("never", failing)).isInstanceOf(BlobException.class);

    assertThat(incoming()).isEmpty();
    assertThat(blobs.exists("never")).isFalse();
  }

  @Test
  void opening_removes_what_old_puts_left_and_spares_the_young() throws IOException {
    Instant now = Instant.parse("2026-03-01T12:00:00Z");
    Path old = leftover("old", now.minus(Duration.ofHours(24)).minusMillis(1));
    Path young = leftover("young", now.minus(Duration.ofHours(24)).plusMillis(1));

    FileBlobStore.open(folder, Clock.fixed(now, ZoneOffset.UTC));

    assertThat(old).doesNotExist();
    assertThat(young).exists();

    blobs.removeLeftovers(now.plusMillis(2));

    assertThat(young).doesNotExist();
  }

  @Test
  void a_link_is_the_same_file_under_another_name_and_both_are_deleted_apart() throws IOException {
    Instant now = Instant.parse("2026-03-01T12:00:00Z");
    FileBlobStore store = FileBlobStore.open(folder, Clock.fixed(now, ZoneOffset.UTC));
    put("result", "bytes");
    put("payload", "what had the name before");

    assertThat(store.link("result", "payload")).isTrue();

    assertThat(read("payload", 0)).isEqualTo("bytes");
    try (Stream<Path> files = Files.walk(folder.resolve("data"))) {
      List<Path> both = files.filter(Files::isRegularFile).toList();
      assertThat(both).hasSize(2);
      assertThat(Files.isSameFile(both.getFirst(), both.getLast())).isTrue();
    }
    assertThat(list("payload")).extracting(Blob::modified).containsExactly(now);
    assertThat(store.delete("result")).isTrue();
    assertThat(read("payload", 0)).isEqualTo("bytes");
    assertThat(incoming()).isEmpty();
    assertThat(store.link("payload", "payload")).isTrue();
    assertThat(read("payload", 0)).isEqualTo("bytes");
    assertThat(incoming()).isEmpty();
  }

  @Test
  void what_is_not_there_cannot_be_linked() {
    assertThatThrownBy(() -> blobs.link("never", "payload"))
        .isInstanceOf(NoSuchBlobException.class)
        .hasMessageContaining("never");
    assertThat(blobs.exists("payload")).isFalse();
    assertThat(incoming()).isEmpty();
  }

  @Test
  void foreign_files_are_not_listed() throws IOException {
    put("mine", "");
    Files.createFile(folder.resolve("data/.DS_Store"));
    try (Stream<Path> folders = Files.list(folder.resolve("data"))) {
      Path shard = folders.filter(Files::isDirectory).findFirst().orElseThrow();
      Files.createFile(shard.resolve(".DS_Store"));
      Files.createDirectory(shard.resolve("a-folder"));
    }

    assertThat(list("")).extracting(Blob::name).containsExactly("mine");
  }

  @Test
  void a_folder_that_cannot_be_made_is_named() throws IOException {
    Path file = Files.createFile(folder.resolve("a-file"));

    assertThatThrownBy(() -> FileBlobStore.open(file))
        .isInstanceOf(BlobException.class)
        .hasMessageContaining(file.toString());
  }

  private Path leftover(String name, Instant modified) throws IOException {
    Path file = Files.createFile(folder.resolve("incoming").resolve(name));
    return Files.setLastModifiedTime(file, FileTime.from(modified));
  }

  private List<Path> incoming() {
    try (Stream<Path> files = Files.list(folder.resolve("incoming"))) {
      return files.toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

package io.millrace.blobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ChunkedBlobTest {
  private static final int CHUNK = 10;

  private final BlobStore blobs;
  private final ChunkedBlob value;

  ChunkedBlobTest(@TempDir Path folder) {
    blobs = FileBlobStore.open(folder);
    value = new ChunkedBlob(blobs, "value-", CHUNK);
  }

  private static String text(int size) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < size; i++) {
      text.append((char) ('a' + i % 26));
    }
    return text.toString();
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 9, 10, 11, 20, 59, 60, 101})
  void a_value_is_read_from_any_offset_as_it_was_stored(int size) throws IOException {
    value.copyOf(Tail.of(text(size)), size);
    assertThat(value.size()).isEqualTo(size);
    assertThat(value.chunks(size)).allMatch(blobs::exists).hasSize((size + CHUNK - 1) / CHUNK);
    assertThat(blobs.exists(value.chunk((size + CHUNK - 1) / CHUNK))).isFalse();
    for (int from = 0; from <= size + 1; from++) {
      String rest = text(size).substring(Math.min(from, size));
      assertThat(text(value.read(from, 15)))
          .isEqualTo(rest.substring(0, Math.min(15, rest.length())));
      try (InputStream bytes = value.open(from)) {
        assertThat(text(bytes.readAllBytes())).isEqualTo(rest);
      }
    }
  }

  @Test
  void only_the_first_bytes_of_a_tail_are_stored_if_it_grows_meanwhile() {
    value.copyOf(Tail.of(text(30)), 25);
    assertThat(text(value.read(0, 100))).isEqualTo(text(25));
  }

  @Test
  void a_value_whose_last_chunk_is_replaced_by_a_longer_one_has_grown() {
    value.copyOf(Tail.of(text(14)), 14);
    assertThat(value.read(14, 100)).isEmpty();
    value.copyOf(Tail.of(text(17)), 17);
    assertThat(text(value.read(14, 100))).isEqualTo(text(17).substring(14));
  }

  @Test
  void a_missing_chunk_ends_the_value() throws IOException {
    value.copyOf(Tail.of(text(30)), 30);
    blobs.delete(value.chunk(1));
    try (InputStream bytes = value.open(0)) {
      assertThat(text(bytes.readAllBytes())).isEqualTo(text(10));
    }
  }

  @Test
  void the_stream_of_a_tail_gives_what_is_there_and_ends() throws IOException {
    try (InputStream bytes = Tail.of(text(30)).open(12)) {
      assertThat(text(bytes.readNBytes(3))).isEqualTo(text(30).substring(12, 15));
      assertThat(bytes.read()).isEqualTo('p');
      assertThat(text(bytes.readAllBytes())).isEqualTo(text(30).substring(16));
      assertThat(bytes.read()).isEqualTo(-1);
    }
  }
}

package io.millrace.blobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ValueTest {
  private final BlobStore blobs;

  ValueTest(@TempDir Path folder) {
    blobs = FileBlobStore.open(folder);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 4095, 4096})
  void up_to_4096_bytes_stay_inline_and_store_nothing(int size) throws IOException {
    byte[] bytes = bytes(size);

    Value value = Value.keep("result", new ByteArrayInputStream(bytes), blobs);

    assertThat(value).isEqualTo(new Value.Inline(bytes));
    assertThat(value.size()).isEqualTo(size);
    assertThat(blobs.exists("result")).isFalse();
    assertContent(value, bytes);
  }

  @ParameterizedTest
  @ValueSource(ints = {4097, 100_000})
  void one_byte_more_is_a_blob(int size) throws IOException {
    byte[] bytes = bytes(size);

    Value value = Value.keep("result", new ByteArrayInputStream(bytes), blobs);

    assertThat(value).isEqualTo(new Value.Stored("result", size));
    assertThat(blobs.size("result")).hasValue(size);
    assertContent(value, bytes);
  }

  @Test
  void the_name_is_checked_even_when_it_is_not_needed() {
    assertThatThrownBy(() -> Value.keep("../x", InputStream.nullInputStream(), blobs))
        .isInstanceOf(InvalidBlobNameException.class);
    assertThatThrownBy(() -> new Value.Stored("../x", 1))
        .isInstanceOf(InvalidBlobNameException.class);
  }

  @Test
  void content_that_cannot_be_read_is_an_error_that_names_the_blob() {
    InputStream failing = new FailingStream("gone", () -> {});

    assertThatThrownBy(() -> Value.keep("result", failing, blobs))
        .isInstanceOf(BlobException.class)
        .hasMessageContaining("result")
        .hasMessageContaining("gone");
  }

  @Test
  void an_inline_value_is_limited_and_does_not_share_its_bytes() {
    byte[] bytes = {1, 2};
    Value.Inline value = new Value.Inline(bytes);
    bytes[0] = 9;
    value.bytes()[1] = 9;

    assertThat(value.bytes()).containsExactly(1, 2);
    assertThatThrownBy(() -> new Value.Inline(new byte[4097]))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("4097");
    assertThatThrownBy(() -> new Value.Stored("x", -1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private void assertContent(Value value, byte[] bytes) throws IOException {
    try (InputStream in = value.open(blobs)) {
      assertThat(Arrays.equals(in.readAllBytes(), bytes)).isTrue();
    }
  }

  private static byte[] bytes(int size) {
    byte[] bytes = new byte[size];
    Arrays.fill(bytes, (byte) 'v');
    return bytes;
  }
}

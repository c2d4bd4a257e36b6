package io.millrace.client.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SpoolTest {
  private static byte[] bytes(int size) {
    byte[] bytes = new byte[size];
    new Random(size).nextBytes(bytes);
    return bytes;
  }

  private static CompletableFuture<byte[]> reading(Spool spool) {
    CompletableFuture<byte[]> read = new CompletableFuture<>();
    Thread.ofVirtual()
        .start(() -> {
          try (InputStream in = spool.input()) {
            read.complete(in.readAllBytes());
          } catch (IOException e) {
            read.completeExceptionally(e);
          }
        });
    return read;
  }

  @Test
  void what_is_written_is_read_while_it_comes_in_memory_and_beyond() throws Exception {
    byte[] all = bytes(3_000_000);
    try (Spool spool = new Spool()) {
      CompletableFuture<byte[]> read = reading(spool);
      for (int at = 0; at < all.length; at += 70_001) {
        spool.write(
            ByteBuffer.wrap(Arrays.copyOfRange(all, at, Math.min(all.length, at + 70_001))));
      }
      spool.complete();
      assertThat(read.get(60, TimeUnit.SECONDS)).isEqualTo(all);
      assertThat(reading(spool).get(60, TimeUnit.SECONDS)).isEqualTo(all);
      assertThat(spool.size()).isEqualTo(all.length);
    }
  }

  @Test
  void a_spool_without_bytes_has_an_end() throws Exception {
    try (Spool spool = new Spool()) {
      spool.complete();
      assertThat(reading(spool).get(60, TimeUnit.SECONDS)).isEmpty();
    }
  }

  @Test
  void a_reader_hears_that_the_rest_will_not_come() throws Exception {
    try (Spool spool = new Spool()) {
      spool.write(ByteBuffer.wrap(bytes(10)));
      CompletableFuture<byte[]> read = reading(spool);
      spool.breakOff("the connection ended");
      assertThatThrownBy(() -> read.get(60, TimeUnit.SECONDS))
          .hasMessageContaining("the connection ended");
      spool.write(ByteBuffer.wrap(bytes(10)));
      assertThat(spool.size()).isEqualTo(10);
    }
  }

  @Test
  void a_closed_spool_takes_bytes_and_keeps_none() throws Exception {
    Spool spool = new Spool();
    spool.write(ByteBuffer.wrap(bytes(1_000_000)));
    spool.close();
    ByteBuffer late = ByteBuffer.wrap(bytes(10));
    spool.write(late);
    assertThat(late.hasRemaining()).isFalse();
    assertThatThrownBy(() -> spool.input().readAllBytes()).isInstanceOf(IOException.class);
  }
}

package io.millrace.http.websocket;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.http.websocket.RawPeer.Frame;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import javax.net.SocketFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** WebSocket over a real connection, with a peer that keeps to no rule. */
@ParameterizedClass
@ValueSource(booleans = {false, true})
final class WebSocketTest {
  @Parameter private boolean encrypted;
  @TempDir private Path folder;
  private EchoServer server;

  @BeforeEach
  void start() throws GeneralSecurityException, IOException {
    server = encrypted ? EchoServer.encrypted(folder) : EchoServer.start();
  }

  @AfterEach
  void stop() {
    server.close();
  }

  @Test
  void the_handshake_is_answered_as_the_standard_shows() throws IOException {
    try (RawPeer peer = server.connect()) {
      assertThat(peer.answer())
          .startsWith("HTTP/1.1 101 ")
          .contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n");
    }
  }

  @Test
  void texts_come_whole_in_frames_and_fragments() throws IOException {
    try (RawPeer peer = server.connect()) {
      peer.text("über");
      assertThat(peer.read().text()).isEqualTo("über");
      byte[] text = "größer".getBytes(StandardCharsets.UTF_8);
      peer.send(0x01, Arrays.copyOf(text, 3));
      peer.send(0x89, new byte[] {7});
      peer.send(0x00, new byte[0]);
      peer.send(0x80, Arrays.copyOfRange(text, 3, text.length));
      assertThat(peer.read())
          .satisfies(pong -> {
            assertThat(pong.first()).isEqualTo(0x8a);
            assertThat(pong.payload()).containsExactly(7);
          });
      assertThat(peer.read().text()).isEqualTo("größer");
    }
  }

  @Test
  void a_long_binary_message_is_read_as_it_comes() throws IOException {
    byte[] part = new byte[100_003];
    new Random(5).nextBytes(part);
    int sum = 0;
    try (RawPeer peer = server.connect()) {
      for (int i = 0; i < 200; i++) {
        peer.send(i == 0 ? 0x02 : i == 199 ? 0x80 : 0x00, part);
        for (byte each : part) {
          sum = 31 * sum + each;
        }
      }
      assertThat(peer.read().text()).isEqualTo(200L * part.length + " " + sum);
    }
  }

  @Test
  void a_frame_may_have_the_limit_and_not_one_byte_more() throws IOException {
    try (RawPeer peer = server.connect()) {
      peer.send(0x82, new byte[1 << 20]);
      assertThat(peer.read().text()).isEqualTo((1 << 20) + " 0");
      peer.send(0x82, new byte[(1 << 20) + 1]);
      Frame close = peer.read();
      assertThat(close.code()).isEqualTo(1009);
      assertThat(close.reason()).contains("1048576 bytes");
      peer.send(0x88, new byte[] {3, (byte) 0xf1});
      peer.readToEnd();
    }
  }

  @Test
  void a_text_has_a_limit_over_all_its_fragments() throws IOException {
    try (RawPeer peer = server.connect()) {
      peer.send(0x01, new byte[1000]);
      peer.send(0x80, new byte[25]);
      assertThat(peer.read().code()).isEqualTo(1009);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "81 00", // not masked
        "c1 80 00 00 00 00", // a reserved bit
        "83 80 00 00 00 00", // a kind that is none
        "80 80 00 00 00 00", // continues nothing
        "09 80 00 00 00 00", // a ping in fragments
        "89 fe 00 7e 00 00 00 00", // a long ping
        "82 fe 00 05 00 00 00 00", // a length that is not the shortest
        "82 ff ff ff ff ff ff ff ff ff 00 00 00 00", // a negative one
        "01 80 00 00 00 00 81 80 00 00 00 00", // a message within a message
        "88 81 00 00 00 00 00", // half a close code
        "88 82 00 00 00 00 03 ed", // a close code that is only for reports
      })
  void what_is_no_frame_is_answered_with_1002(String hex) throws Exception {
    try (RawPeer peer = server.connect()) {
      peer.bytes(Arrays.stream(hex.split(" ")).mapToInt(it -> Integer.parseInt(it, 16)).toArray());
      Frame close = peer.read();
      assertThat(close.first()).isEqualTo(0x88);
      assertThat(close.code()).isEqualTo(1002);
      peer.readToEnd();
    }
    assertThat(server.nextEvent()).isEqualTo("closed");
  }

  @Test
  void a_text_that_is_not_utf_8_is_answered_with_1007() throws IOException {
    try (RawPeer peer = server.connect()) {
      peer.send(0x81, new byte[] {(byte) 0xff});
      assertThat(peer.read().code()).isEqualTo(1007);
    }
  }

  @Test
  void a_close_is_answered_with_its_code_and_ends_the_connection() throws Exception {
    try (RawPeer peer = server.connect()) {
      peer.send(0x88, ByteBuffer.allocate(5).putShort((short) 1001).put((byte) 'b').array());
      assertThat(peer.read().code()).isEqualTo(1001);
      peer.readToEnd();
    }
    assertThat(server.nextEvent()).isEqualTo("closed");
  }

  @Test
  void a_reason_is_cut_between_characters() throws IOException {
    try (RawPeer peer = server.connect()) {
      peer.text("close");
      Frame close = peer.read();
      assertThat(close.code()).isEqualTo(4000);
      assertThat(close.reason()).isEqualTo("ü".repeat(61));
    }
  }

  @Test
  void a_payload_goes_out_in_fragments_behind_its_announcement() throws IOException {
    try (RawPeer peer = server.connect()) {
      peer.text("payload");
      assertThat(peer.read().text()).isEqualTo("before");
      Frame first = peer.read();
      assertThat(first.first()).isEqualTo(0x02);
      assertThat(first.payload()).hasSize(256 << 10);
      assertThat(peer.read().first()).isEqualTo(0x00);
      Frame last = peer.read();
      assertThat(last.first()).isEqualTo(0x80);
      assertThat(last.payload()).hasSize(600_000 - 2 * (256 << 10));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"unreadable", "short"})
  void content_that_cannot_be_read_closes_with_1011(String what) throws IOException {
    try (RawPeer peer = server.connect()) {
      peer.text(what);
      assertThat(peer.read().code()).isEqualTo(1011);
    }
  }

  @Test
  void a_peer_that_takes_nothing_is_cut_off() throws Exception {
    try (RawPeer peer = server.connect()) {
      peer.text("flood");
      assertThat(server.nextEvent()).isEqualTo("closed");
    }
  }

  @Test
  void a_stop_sends_everybody_away_with_1001() throws Exception {
    try (RawPeer peer = server.connect()) {
      Thread stop = Thread.ofVirtual().start(server::stop);
      assertThat(peer.read().code()).isEqualTo(1001);
      peer.text("still heard");
      peer.send(0x88, new byte[] {3, (byte) 0xe9});
      peer.readToEnd();
      stop.join();
    }
  }

  @Test
  void a_quiet_connection_outlives_the_idle_time_of_http() throws Exception {
    try (EchoServer quick =
            new EchoServer(new WebSocket.Limits(1 << 20, 1 << 10, 1 << 20), Duration.ofSeconds(1));
        RawPeer quiet = quick.connect();
        RawPeer plain = RawPeer.at(SocketFactory.getDefault(), quick.port(), "/none")) {
      // A connection that stayed with HTTP is closed meanwhile.
      plain.readToEnd();
      quiet.text("there");
      assertThat(quiet.read().text()).isEqualTo("there");
    }
  }

  @Test
  void garbage_ends_its_own_connection_only() throws Exception {
    Random random = new Random(23);
    try (RawPeer sound = server.connect()) {
      for (int i = 0; i < 50; i++) {
        try (RawPeer peer = server.connect()) {
          byte[] garbage = new byte[random.nextInt(1, 2_000)];
          random.nextBytes(garbage);
          for (byte each : garbage) {
            peer.bytes(each);
          }
        } catch (IOException _) {
          // The server may have closed already.
        }
      }
      sound.text("sound");
      assertThat(sound.read().text()).isEqualTo("sound");
    }
  }
}

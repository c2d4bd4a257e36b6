package io.millrace.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.client.EventStream.Event;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

final class EventStreamTest {
  private static EventStream of(String text) {
    return new EventStream(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)));
  }

  /** A stream that gives one byte at a time. */
  private static EventStream slowly(String text) {
    InputStream bytes = new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
    return new EventStream(
        new InputStream() {
          @Override
          public int read() throws IOException {
            return bytes.read();
          }

          @Override
          public int read(byte[] target, int offset, int length) throws IOException {
            return bytes.read(target, offset, Math.min(1, length));
          }
        });
  }

  private static void next(EventStream events, String name, String data) throws IOException {
    Event event = events.nextEvent();
    assertThat(event.name()).isEqualTo(name);
    assertThat(new String(event.data(), StandardCharsets.UTF_8)).isEqualTo(data);
  }

  @Test
  void every_end_of_line_ends_a_line() throws IOException {
    String text = "event: a\ndata: 1\n\nevent: b\r\ndata: 2\r\n\r\nevent: c\rdata: 3\r\r";
    for (EventStream events : new EventStream[] {of(text), slowly(text)}) {
      next(events, "a", "1");
      next(events, "b", "2");
      next(events, "c", "3");
      assertThatThrownBy(events::nextEvent).isInstanceOf(EOFException.class);
    }
  }

  @Test
  void comments_and_events_without_data_are_passed_over() throws IOException {
    EventStream events = of(": alive\n\nevent: empty\n\nid: 7\nretry: 5\ndata:x\n\n");
    next(events, "message", "x");
  }

  @Test
  void data_of_several_lines_is_joined() throws IOException {
    next(of("data: one\ndata\ndata:  three é\n\n"), "message", "one\n\n three é");
  }

  @Test
  void a_line_longer_than_any_buffer_comes_whole() throws IOException {
    String data = "0123456789".repeat(20_000);
    next(of("data: " + data + "\n\n"), "message", data);
  }

  @Test
  void an_event_that_is_cut_off_does_not_count() {
    EventStream events = of("event: commit\ndata: half");
    assertThatThrownBy(events::nextEvent).isInstanceOf(EOFException.class);
  }
}

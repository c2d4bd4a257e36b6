package io.millrace.server.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.http.message.HttpProblem;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FormTest {
  private static final int MOST = 100;

  /** A stream that gives at most so many bytes at once. */
  private static InputStream slowly(byte[] bytes, Random random, int most) {
    return new ByteArrayInputStream(bytes) {
      @Override
      public synchronized int read(byte[] target, int offset, int length) {
        return super.read(target, offset, Math.min(length, 1 + random.nextInt(most)));
      }
    };
  }

  private static Form form(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return new Form(new ByteArrayInputStream(bytes), bytes.length, "b");
  }

  private static String part(String headers, String content) {
    return "--b\r\n" + headers + "\r\n\r\n" + content + "\r\n";
  }

  private static String names(Form form) throws IOException {
    List<String> fields = new ArrayList<>();
    for (Form.Field field = form.next(); field != null; field = form.next()) {
      fields.add(field.name() + "=" + field.text(MOST));
    }
    return String.join(" ", fields);
  }

  /** Bytes among which are many beginnings of a delimiter. */
  private static byte[] content(Random random, String boundary) {
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    String delimiter = "\r\n--" + boundary;
    while (random.nextInt(4) > 0) {
      byte[] some = new byte[random.nextInt(random.nextBoolean() ? 20 : 9_000)];
      random.nextBytes(some);
      content.writeBytes(some);
      String begun = delimiter.substring(0, random.nextInt(delimiter.length()));
      content.writeBytes(begun.getBytes(StandardCharsets.ISO_8859_1));
    }
    return content.toByteArray();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 7, 100, 100_000})
  void parts_are_read_as_they_were_written_however_they_arrive(int most) throws Exception {
    for (int seed = 0; seed < 100; seed++) {
      Random random = new Random(seed);
      String boundary = "x".repeat(1 + random.nextInt(69)) + "y";
      List<byte[]> contents = new ArrayList<>();
      ByteArrayOutputStream text = new ByteArrayOutputStream();
      text.writeBytes(
          (random.nextBoolean() ? "a preamble\r\n" : "").getBytes(StandardCharsets.UTF_8));
      for (int i = random.nextInt(4); i > 0; i--) {
        contents.add(content(random, boundary));
        String head = "--" + boundary + "\r\nContent-Disposition: form-data; name=N\r\n\r\n";
        text.writeBytes(head.getBytes(StandardCharsets.UTF_8));
        text.writeBytes(contents.getLast());
        text.writeBytes("\r\n".getBytes(StandardCharsets.UTF_8));
      }
      text.writeBytes(("--" + boundary + "--\r\nan epilogue").getBytes(StandardCharsets.UTF_8));
      long length = random.nextBoolean() ? text.size() : -1;
      Form form = new Form(slowly(text.toByteArray(), random, most), length, boundary);

      for (byte[] content : contents) {
        Form.Field field = Objects.requireNonNull(form.next(), "a field is missing");
        int taken = random.nextInt(3) == 0 ? random.nextInt(content.length + 1) : content.length;
        byte[] read =
            random.nextBoolean()
                ? field.content().readNBytes(taken)
                : slowlyRead(field.content(), taken, random);
        assertThat(read).as("seed " + seed).isEqualTo(Arrays.copyOf(content, taken));
        if (taken == content.length) {
          assertThat(field.content().read()).isEqualTo(-1);
        }
      }
      assertThat(form.next()).as("seed " + seed).isNull();
    }
  }

  private static byte[] slowlyRead(InputStream content, int length, Random random)
      throws IOException {
    byte[] read = new byte[length];
    for (int at = 0; at < length; ) {
      int count = content.read(read, at, 1 + random.nextInt(length - at));
      assertThat(count).isPositive();
      at += count;
    }
    return read;
  }

  @ParameterizedTest
  @CsvSource({
    "Content-Disposition: form-data; name=Key, key=v",
    "content-disposition:form-data;filename=a.b;name=\"Key\", key=v",
    "Content-Disposition: Form-Data; name=\"a\\\"b;c\", a\"b;c=v",
    "Content-Type: text/plain, ''",
    "Content-Disposition: attachment; name=Key, ''",
    "Content-Disposition: form-data, ''",
    "Content-Disposition: form-data; name, ''",
  })
  void a_part_is_named_by_its_disposition(String header, String expected) throws Exception {
    assertThat(names(form(part(header, "v") + "--b--"))).isEqualTo(expected);
  }

  @Test
  void headers_may_have_other_lines_and_go_on_in_the_next() throws Exception {
    String headers = "Content-Type: text/plain\r\nContent-Disposition: form-data;\r\n name=Key";
    assertThat(names(form(part(headers, "v") + "--b--"))).isEqualTo("key=v");
  }

  @Test
  void a_body_without_any_boundary_has_no_parts() throws Exception {
    assertThat(names(form(""))).isEmpty();
    assertThat(names(form("no boundary"))).isEmpty();
  }

  @Test
  void a_part_without_headers_has_no_name() throws Exception {
    assertThat(names(form("--b\r\n\r\nv\r\n--b--"))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--bx\r\n\r\nv\r\n--b--",
        "--b\r\nContent-Disposition: form-data; name=k",
        "--b\r\nContent-Disposition: form-data; name=k\r\n\r\nvalue",
        "--b\r\nContent-Disposition: form-data; name=k\r\n\r\nvalue\r\n--",
        "--b\r\nContent-Disposition: form-data; name=k\r\n\r\nvalue\r\n--b",
      })
  void a_malformed_form_is_a_problem_that_says_so(String text) {
    assertThatThrownBy(() -> names(form(text)))
        .isInstanceOf(HttpProblem.class)
        .hasMessageContaining("the form is malformed: ");
  }

  @Test
  void headers_have_a_limit() {
    String longest = "Content-Disposition: form-data; name=" + "n".repeat(9_000);
    assertThatThrownBy(() -> names(form(part(longest, "v") + "--b--")))
        .isInstanceOf(HttpProblem.class)
        .hasMessageContaining("8192 header bytes");
  }

  @Test
  void a_connection_that_fails_is_no_problem_of_the_form() {
    InputStream broken =
        new InputStream() {
          @Override
          public int read() throws IOException {
            throw new EOFException("cut off");
          }

          @Override
          public int read(byte[] target, int offset, int length) throws IOException {
            throw new EOFException("cut off");
          }
        };
    assertThatThrownBy(() -> new Form(broken, -1, "b").next())
        .isInstanceOf(EOFException.class)
        .hasMessage("cut off");
  }
}

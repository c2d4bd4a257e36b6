package io.millrace.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.server.TestServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is not UTF-8 is refused wherever text comes in, and never stored as something else. */
final class BrokenTextTest {
  private static final String JSON = "application/json";
  private static final String FORM = "application/x-www-form-urlencoded";

  /** The place of the bytes within otherwise valid text. */
  private static final String BYTES = "\u0001";

  @TempDir private Path folder;
  private TestServer server;

  @BeforeEach
  void start() {
    server = TestServer.in(folder);
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private static byte[] with(String text, byte[] bytes) {
    String[] around = text.split(BYTES, -1);
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.writeBytes(around[0].getBytes(StandardCharsets.UTF_8));
    all.writeBytes(bytes);
    all.writeBytes(around[1].getBytes(StandardCharsets.UTF_8));
    return all.toByteArray();
  }

  /** The answer to a plain request, which an event loop serves where the route has it. */
  private String post(String path, String type, byte[] body) throws IOException {
    // The second request closes, so that the first may be plain.
    return exchange(
        head(path, type) + "Content-Length: " + body.length + "\r\n\r\n",
        body,
        "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  }

  /** The answer to a request that comes in a chunk. */
  private String postChunked(String path, String type, byte[] body) throws IOException {
    return exchange(
        head(path, type)
            + "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n"
                .formatted(body.length),
        body,
        "\r\n0\r\n\r\n");
  }

  private static String head(String path, String type) {
    return "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + type + "\r\n";
  }

  private String exchange(String before, byte[] body, String after) throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.writeBytes(before.getBytes(StandardCharsets.US_ASCII));
    all.writeBytes(body);
    all.writeBytes(after.getBytes(StandardCharsets.US_ASCII));
    try (Socket socket = server.connect()) {
      socket.getOutputStream().write(all.toByteArray());
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private void isRefused(String path, String type, byte[] body, String words) throws IOException {
    assertThat(post(path, type, body)).startsWith("HTTP/1.1 400 ").contains(words);
    assertThat(postChunked(path, type, body)).startsWith("HTTP/1.1 400 ").contains(words);
  }

  private void nothingIsThere() throws Exception {
    assertThat(server.get("/store/group/g?owned=1").body()).isEqualTo("[]");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ff",
        "80",
        "c0af",
        "c080",
        "e08080",
        "f0808080",
        "eda080",
        "edbfbf",
        "f4908080",
        "fe",
        "e298",
        "f09d84",
        "c3"
      })
  void bytes_that_are_no_character_are_refused_by_the_store_with_their_place(String bytes)
      throws Exception {
    byte[] broken = HexFormat.of().parseHex(bytes);
    String words =
        "the body is not UTF-8: byte 0x" + bytes.substring(0, 2) + " at offset 43\"],\"refusal\"";
    String text = "{\"clientid\":1,\"adds\":[{\"group\":\"g\",\"data\":\"" + BYTES + "\"}]}";
    isRefused("/store/update", JSON, with(text, broken), words);
    isRefused("/store/update", FORM, with(text, broken), words);
    nothingIsThere();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "/store/claim|{'clientid':1,'group':'\u0001','duration':1}",
        "/store/tasks|{'ids':[1],'\u0001':null}",
        "/dci/queues|{'name':'\u0001','plugin':'demo'}",
        "/dci/tasks/q|[{'command':'\u0001'}]",
        "/api/worker/next|{'name':'\u0001','id':'1'}",
        "/v1/nodes|{'type':'shell','args':{'command':'\u0001'}}",
      })
  void every_part_of_the_server_refuses_them(String path, String text) throws Exception {
    byte[] body = with(text.replace('\'', '"'), new byte[] {(byte) 0xc0, (byte) 0xaf});
    isRefused(path, JSON, body, "the body is not UTF-8: byte 0xc0 at offset ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"UTF-16", "UTF-16LE", "UTF-16BE", "UTF-32LE", "UTF-32BE"})
  void a_body_in_another_encoding_is_refused(String charset) throws Exception {
    byte[] body =
        "{\"clientid\":1,\"adds\":[{\"group\":\"g\"}]}".getBytes(Charset.forName(charset));
    isRefused("/store/update", JSON, body, "the body is not UTF-8");
    isRefused("/dci/queues", JSON, body, "the body is not UTF-8");
    isRefused("/v1/nodes", JSON, body, "the body is not UTF-8");
    nothingIsThere();
  }

  @ParameterizedTest
  @ValueSource(strings = {"%ff", "%C0%AF", "%ed%a0%80"})
  void a_form_field_is_refused_where_what_it_encodes_is_no_character(String escapes)
      throws Exception {
    String form =
        "update={\"clientid\":1,\"adds\":[{\"group\":\"g\",\"data\":\"" + escapes + "\"}]}";
    isRefused(
        "/store/update",
        FORM,
        form.getBytes(StandardCharsets.US_ASCII),
        "the form field update, decoded, is not UTF-8: byte 0x");
    isRefused(
        "/dci/queues",
        FORM,
        ("name=" + escapes + "&plugin=demo").getBytes(StandardCharsets.US_ASCII),
        "is not UTF-8");
    nothingIsThere();
  }

  @Test
  void all_of_unicode_goes_through_and_a_byte_order_mark_is_passed_over() throws Exception {
    String text = "ü ☃ 𝄞 \ud7ff \ue000 \uffff \udbff\udfff";
    byte[] body =
        ("\ufeff{\"clientid\":1,\"adds\":[{\"group\":\"g\",\"data\":\"" + text + "\"}]}")
            .getBytes(StandardCharsets.UTF_8);
    assertThat(post("/store/update", JSON, body)).startsWith("HTTP/1.1 200 ").contains(text);
    assertThat(postChunked("/store/update", FORM, body)).startsWith("HTTP/1.1 200 ").contains(text);
    byte[] queue = "\ufeff{\"name\":\"ü\",\"plugin\":\"demo\"}".getBytes(StandardCharsets.UTF_8);
    assertThat(post("/dci/queues", JSON, queue)).startsWith("HTTP/1.1 200 ");
  }
}

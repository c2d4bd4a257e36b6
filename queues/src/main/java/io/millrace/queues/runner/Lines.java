package io.millrace.queues.runner;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * JSON objects, one a line, over a socket. One thread may read while others write; lines are never
 * mixed.
 */
final class Lines implements AutoCloseable {
  /** No message is longer; who sends more is none of ours. */
  private static final int MAX_BYTES = 1 << 20;

  private static final JsonMapper MAPPER = new JsonMapper();

  private static final Logger LOG = LoggerFactory.getLogger(Lines.class);

  private final SocketChannel channel;
  private final InputStream in;

  Lines(SocketChannel channel) {
    this.channel = channel;
    this.in = new BufferedInputStream(Channels.newInputStream(channel));
  }

  static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  /** Reads an object; throws unchecked if it is none. */
  static JsonNode parse(byte[] json) {
    return MAPPER.readTree(json);
  }

  static byte[] bytes(JsonNode json) {
    return MAPPER.writeValueAsBytes(json);
  }

  /**
   * The next message; null at the end.
   *
   * @throws IOException when the other side is gone, or sends what is no message
   */
  @Nullable JsonNode read() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int next = in.read(); next != '\n'; next = in.read()) {
      if (next < 0) {
        return null;
      }
      line.write(next);
      if (line.size() > MAX_BYTES) {
        throw new IOException("a line is too long");
      }
    }
    try {
      JsonNode message = parse(line.toByteArray());
      if (message == null || !message.isObject()) {
        throw new IOException("a line is no JSON object");
      }
      return message;
    } catch (JacksonException e) {
      throw new IOException("a line is no JSON: " + e.getOriginalMessage(), e);
    }
  }

  synchronized void write(JsonNode message) throws IOException {
    ByteBuffer line = ByteBuffer.wrap((message + "\n").getBytes(StandardCharsets.UTF_8));
    while (line.hasRemaining()) {
      channel.write(line);
    }
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      LOG.debug("a socket cannot be closed", e);
    }
  }
}

package io.millrace.cli.traces;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.zip.GZIPInputStream;

/** A collector of traces on a free port, which reads what is exported to it by OTLP over HTTP. */
final class TraceCollector implements AutoCloseable {
  private static final long PATIENCE_NANOS = 60_000_000_000L;

  private final HttpServer server;
  private final List<Received> spans = new ArrayList<>();
  private final List<String> keys = new ArrayList<>();

  /**
   * A span as it was exported.
   *
   * @param parentId empty for none
   * @param failed whether its status is an error
   */
  record Received(
      String traceId,
      String spanId,
      String parentId,
      String name,
      long startNanos,
      long endNanos,
      boolean failed,
      Map<String, String> attributes) {}

  TraceCollector() {
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    server.createContext("/v1/traces", this::take);
    server.start();
  }

  String address() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  private void take(HttpExchange exchange) throws IOException {
    byte[] body = new GZIPInputStream(exchange.getRequestBody()).readAllBytes();
    synchronized (this) {
      keys.add(String.valueOf(exchange.getRequestHeaders().getFirst("X-Key")));
      for (ByteBuffer resource : Message.of(ByteBuffer.wrap(body)).messages(1)) {
        for (ByteBuffer scope : Message.of(resource).messages(2)) {
          Message.of(scope).messages(2).forEach(span -> spans.add(span(Message.of(span))));
        }
      }
      notifyAll();
    }
    exchange.getResponseHeaders().set("Content-Type", "application/x-protobuf");
    exchange.sendResponseHeaders(200, -1);
    exchange.close();
  }

  private static Received span(Message span) {
    Map<String, String> attributes = new TreeMap<>();
    for (ByteBuffer attribute : span.messages(9)) {
      Message pair = Message.of(attribute);
      Message value = Message.of(pair.messages(2).getFirst());
      attributes.put(pair.text(1), value.has(1) ? value.text(1) : Long.toString(value.number(3)));
    }
    boolean failed =
        !span.messages(15).isEmpty() && Message.of(span.messages(15).getFirst()).number(3) == 2;
    return new Received(
        span.hex(1),
        span.hex(2),
        span.hex(4),
        span.text(5),
        span.number(7),
        span.number(8),
        failed,
        attributes);
  }

  /** Waits until spans that are wanted have come, and returns them in the order of their starts. */
  synchronized List<Received> await(Predicate<Received> wanted, int count)
      throws InterruptedException {
    long endNanos = System.nanoTime() + PATIENCE_NANOS;
    while (spans.stream().filter(wanted).count() < count) {
      long leftMillis = (endNanos - System.nanoTime()) / 1_000_000;
      if (leftMillis <= 0) {
        throw new AssertionError("there are only these spans: " + spans);
      }
      wait(leftMillis);
    }
    return spans.stream()
        .filter(wanted)
        .sorted((one, other) -> Long.compare(one.startNanos(), other.startNanos()))
        .toList();
  }

  /** The header X-Key of each export. */
  synchronized List<String> keys() {
    return List.copyOf(keys);
  }

  @Override
  public void close() {
    server.stop(0);
  }

  /** The fields of a message of Protocol Buffers, by number. */
  private record Message(Map<Integer, List<Object>> fields) {
    static Message of(ByteBuffer bytes) {
      ByteBuffer in = bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN);
      Map<Integer, List<Object>> fields = new TreeMap<>();
      while (in.hasRemaining()) {
        long tag = varint(in);
        Object value =
            switch ((int) (tag & 7)) {
              case 0 -> varint(in);
              case 1 -> in.getLong();
              case 2 -> {
                int length = (int) varint(in);
                ByteBuffer part = in.slice(in.position(), length);
                in.position(in.position() + length);
                yield part;
              }
              case 5 -> (long) in.getInt();
              default -> throw new IllegalArgumentException("no message: tag " + tag);
            };
        fields.computeIfAbsent((int) (tag >>> 3), _ -> new ArrayList<>()).add(value);
      }
      return new Message(fields);
    }

    private static long varint(ByteBuffer in) {
      long value = 0;
      for (int shift = 0; ; shift += 7) {
        byte next = in.get();
        value |= (long) (next & 0x7f) << shift;
        if (next >= 0) {
          return value;
        }
      }
    }

    boolean has(int field) {
      return fields.containsKey(field);
    }

    List<ByteBuffer> messages(int field) {
      return fields.getOrDefault(field, List.of()).stream().map(ByteBuffer.class::cast).toList();
    }

    private byte[] bytes(int field) {
      if (!has(field)) {
        return new byte[0];
      }
      ByteBuffer part = messages(field).getFirst().duplicate();
      byte[] bytes = new byte[part.remaining()];
      part.get(bytes);
      return bytes;
    }

    String text(int field) {
      return new String(bytes(field), StandardCharsets.UTF_8);
    }

    String hex(int field) {
      return HexFormat.of().formatHex(bytes(field));
    }

    long number(int field) {
      return has(field) ? (Long) fields.get(field).getFirst() : 0;
    }
  }
}

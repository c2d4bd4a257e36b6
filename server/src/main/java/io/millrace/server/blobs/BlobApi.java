package io.millrace.server.blobs;

import io.millrace.blobs.Blob;
import io.millrace.blobs.BlobException;
import io.millrace.blobs.BlobReceipt;
import io.millrace.blobs.BlobStore;
import io.millrace.blobs.BlobStream;
import io.millrace.blobs.InvalidBlobNameException;
import io.millrace.blobs.NoSuchBlobException;
import io.millrace.server.http.ByteRange;
import io.millrace.server.http.Failures;
import io.millrace.server.http.HttpMethod;
import io.millrace.server.http.HttpProblem;
import io.millrace.server.http.LimitedBody;
import io.millrace.server.http.Problems;
import io.millrace.server.http.Reply;
import io.millrace.server.http.Request;
import io.millrace.server.http.Routes;
import io.millrace.wire.Answers;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.Stream;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * Mounts blobs under {@code /blobs}: PUT, GET with a range, HEAD and DELETE of {@code /blobs/NAME},
 * and the list {@code /blobs?prefix=P}. Bodies are streamed both ways.
 */
public final class BlobApi {
  private static final JsonMapper JSON =
      JsonMapper.builder().disable(StreamWriteFeature.AUTO_CLOSE_TARGET).build();

  private final BlobStore blobs;
  private final long maxBytes;

  private BlobApi(BlobStore blobs, long maxBytes) {
    this.blobs = blobs;
    this.maxBytes = maxBytes;
  }

  /** Adds the routes; blobs longer than {@code maxBytes} are refused. */
  public static void mount(Routes routes, BlobStore blobs, long maxBytes) {
    BlobApi api = new BlobApi(blobs, maxBytes);
    routes
        .add(HttpMethod.PUT, "/blobs/{name}", api::put)
        .add(HttpMethod.GET, "/blobs/{name}", api::get)
        .add(HttpMethod.DELETE, "/blobs/{name}", api::delete)
        .add(HttpMethod.GET, "/blobs", api::list);
  }

  /** Says what the failures of blobs mean to a client. */
  public static void explain(Failures failures) {
    failures
        .add(InvalidBlobNameException.class, e -> Problems.reply(HttpProblem.malformed(text(e))))
        .add(NoSuchBlobException.class, e -> Problems.reply(HttpProblem.notFound(text(e))))
        .add(BlobException.class, e -> Problems.reply(HttpProblem.unavailable(text(e), 1)));
  }

  private static String text(BlobException e) {
    return String.valueOf(e.getMessage());
  }

  private Reply put(Request request) throws IOException {
    if (request.bodyLength() > maxBytes) {
      throw tooLarge();
    }
    try (LimitedBody body = new LimitedBody(request.bodyStream(), maxBytes)) {
      BlobReceipt receipt = blobs.put(request.parameter("name"), body);
      return Reply.json(
          201,
          JSON.writeValueAsBytes(
              Map.of("name", receipt.name(), "size", receipt.size(), "sha256", receipt.sha256())));
    } catch (BlobException e) {
      if (e.getCause() instanceof LimitedBody.TooLong) {
        throw tooLarge();
      }
      throw e;
    }
  }

  private HttpProblem tooLarge() {
    return HttpProblem.tooLarge("the blob exceeds the limit of " + maxBytes + " bytes");
  }

  private Reply get(Request request) throws IOException {
    String name = request.parameter("name");
    String header = request.header("Range").orElse(null);
    if (request.isHead()) {
      OptionalLong size = blobs.size(name);
      if (size.isEmpty()) {
        throw HttpProblem.notFound("there is no blob " + name);
      }
      return whole(size.getAsLong());
    }
    if (header == null) {
      BlobStream opened = blobs.open(name);
      return new Reply.Streamed(
          200, Reply.BYTES, acceptRanges(), opened.size(), target -> copy(opened, target));
    }
    OptionalLong size = blobs.size(name);
    if (size.isEmpty()) {
      throw HttpProblem.notFound("there is no blob " + name);
    }
    ByteRange range = ByteRange.parse(header, size.getAsLong());
    if (range == null) {
      BlobStream opened = blobs.open(name);
      return new Reply.Streamed(
          200, Reply.BYTES, acceptRanges(), opened.size(), target -> copy(opened, target));
    }
    if (range.isEmpty()) {
      return unsatisfied(size.getAsLong());
    }
    BlobStream opened = blobs.open(name, range.first());
    if (opened.size() != size.getAsLong()) {
      // Replaced since its size was asked; the range may mean something else now.
      opened.close();
      return get(request);
    }
    Map<String, String> headers = new LinkedHashMap<>(acceptRanges());
    headers.put(
        "Content-Range", "bytes " + range.first() + "-" + range.last() + "/" + opened.size());
    return new Reply.Streamed(
        206, Reply.BYTES, headers, range.length(), target -> copy(opened, range.length(), target));
  }

  private static Reply unsatisfied(long size) {
    return new Reply.Whole(
        416,
        Reply.JSON,
        Map.of("Content-Range", "bytes */" + size),
        Answers.writeError("the range begins at or after the end, which is at " + size));
  }

  private static Reply whole(long size) {
    return new Reply.Streamed(200, Reply.BYTES, acceptRanges(), size, _ -> {});
  }

  private static Map<String, String> acceptRanges() {
    return Map.of("Accept-Ranges", "bytes");
  }

  private static void copy(BlobStream from, OutputStream target) throws IOException {
    try (from) {
      from.transferTo(target);
    }
  }

  private static void copy(BlobStream from, long length, OutputStream target) throws IOException {
    try (from) {
      byte[] buffer = new byte[64 << 10];
      long left = length;
      while (left > 0) {
        int read = from.read(buffer, 0, (int) Math.min(left, buffer.length));
        if (read < 0) {
          throw new IOException("the blob ended early");
        }
        target.write(buffer, 0, read);
        left -= read;
      }
    }
  }

  private Reply delete(Request request) {
    String name = request.parameter("name");
    if (!blobs.delete(name)) {
      throw HttpProblem.notFound("there is no blob " + name);
    }
    return Reply.nothing();
  }

  private Reply list(Request request) {
    Stream<Blob> listed = blobs.list(request.query().text("prefix").orElse(""));
    if (request.isHead()) {
      listed.close();
    }
    return Reply.streamed(Reply.JSON, target -> write(listed, target));
  }

  private static void write(Stream<Blob> listed, OutputStream target) {
    try (listed;
        JsonGenerator json = JSON.createGenerator(target)) {
      json.writeStartObject();
      json.writeArrayPropertyStart("blobs");
      Iterator<Blob> each = listed.iterator();
      while (each.hasNext()) {
        Blob blob = each.next();
        json.writeStartObject();
        json.writeStringProperty("name", blob.name());
        json.writeNumberProperty("size", blob.size());
        json.writeStringProperty("modified", blob.modified().toString());
        json.writeEndObject();
      }
      json.writeEndArray();
      json.writeEndObject();
    }
  }
}

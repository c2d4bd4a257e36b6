package io.millrace.server.blobs;

import io.millrace.blobs.Blob;
import io.millrace.blobs.BlobException;
import io.millrace.blobs.BlobReceipt;
import io.millrace.blobs.BlobStore;
import io.millrace.blobs.BlobStream;
import io.millrace.blobs.InvalidBlobNameException;
import io.millrace.blobs.NoSuchBlobException;
import io.millrace.http.ApiRoutes;
import io.millrace.http.Caller.Reach.Area;
import io.millrace.http.ErrorResponses;
import io.millrace.http.Request;
import io.millrace.http.Route;
import io.millrace.http.message.ByteRange;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.LimitedBody;
import io.millrace.http.message.Response;
import io.millrace.server.Part;
import io.millrace.wire.Responses;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * Blobs under {@code /blobs}: PUT, GET with a range, HEAD and DELETE of {@code /blobs/NAME}, and
 * the list {@code /blobs?prefix=P}. Bodies are streamed both ways.
 */
public final class BlobApi implements Part {
  private static final Logger LOG = LoggerFactory.getLogger(BlobApi.class);
  private static final Duration BETWEEN_SWEEPS = Duration.ofHours(1);
  private static final JsonMapper JSON =
      JsonMapper.builder().disable(StreamWriteFeature.AUTO_CLOSE_TARGET).build();

  private final BlobStore blobs;
  private final long maxBytes;

  /** Serves these blobs; longer ones than {@code maxBytes} are refused. */
  public BlobApi(BlobStore blobs, long maxBytes) {
    this.blobs = blobs;
    this.maxBytes = maxBytes;
  }

  @Override
  public List<Route> routes() {
    ApiRoutes api = ApiRoutes.below("/blobs").limitable();
    api.body(Route.Body.BYTES).action("blob.put").put("/{name}", this::put);
    api.query("link").get("/{name}", this::get);
    api.action("blob.delete").delete("/{name}", this::delete);
    api.query("prefix").get("", this::list);
    return api.routes();
  }

  @Override
  public void addErrorResponses(ErrorResponses responses) {
    responses
        .add(InvalidBlobNameException.class, 400)
        .add(NoSuchBlobException.class, 404)
        .addUnavailable(BlobException.class);
  }

  @Override
  public List<Activity> activities() {
    return List.of(new Activity("blob-leftovers", this::removeLeftovers));
  }

  private Instant removeLeftovers(Instant now) {
    try {
      blobs.removeLeftovers(now);
    } catch (BlobException e) {
      LOG.warn("what puts left is removed later: {}", e.getMessage());
    }
    return now.plus(BETWEEN_SWEEPS);
  }

  private Response put(Request request) throws IOException {
    if (request.bodyLength() > maxBytes) {
      throw tooLarge();
    }
    String name = request.parameter("name");
    if (!reaches(request, name)) {
      throw new HttpProblem(
          403, "the blob " + name + " would be out of reach of " + request.caller().principal());
    }
    request.concerns(Area.BLOBS, name);
    try (LimitedBody body = new LimitedBody(request.bodyStream(), maxBytes)) {
      BlobReceipt receipt = blobs.put(name, body);
      return Response.json(
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

  private static boolean reaches(Request request, String name) {
    return request.caller().reach().includes(Area.BLOBS, name);
  }

  /** The blob that a request names; out of the caller's reach it is as if it were not there. */
  private static String inReach(Request request) {
    String name = request.parameter("name");
    if (!reaches(request, name)) {
      throw HttpProblem.notFound("there is no blob " + name);
    }
    return name;
  }

  private Response get(Request request) throws IOException {
    String name = inReach(request);
    String header = request.header("Range").orElse(null);
    if (request.isHead()) {
      OptionalLong size = blobs.size(name);
      if (size.isEmpty()) {
        throw HttpProblem.notFound("there is no blob " + name);
      }
      return whole(size.getAsLong());
    }
    Response link =
        link(request, () -> blobs.exists(name) ? blobs.publicLink(name) : Optional.empty());
    if (link != null) {
      return link;
    }
    if (header == null) {
      BlobStream opened = blobs.open(name);
      return new Response.Streamed(
          200, Response.BYTES, acceptRanges(), opened.size(), target -> copy(opened, target));
    }
    OptionalLong size = blobs.size(name);
    if (size.isEmpty()) {
      throw HttpProblem.notFound("there is no blob " + name);
    }
    ByteRange range = ByteRange.parse(header, size.getAsLong());
    if (range == null) {
      BlobStream opened = blobs.open(name);
      return new Response.Streamed(
          200, Response.BYTES, acceptRanges(), opened.size(), target -> copy(opened, target));
    }
    if (range.isEmpty()) {
      return unsatisfied(size.getAsLong());
    }
    BlobStream opened = blobs.open(name, range.first());
    if (opened.size() != size.getAsLong()) {
      // Replaced since its size was read; the range may mean something else now.
      opened.close();
      return get(request);
    }
    Map<String, String> headers = new LinkedHashMap<>(acceptRanges());
    headers.put(
        "Content-Range", "bytes " + range.first() + "-" + range.last() + "/" + opened.size());
    return new Response.Streamed(
        206,
        Response.BYTES,
        headers,
        range.length(),
        target -> copy(opened, range.length(), target));
  }

  /**
   * Directs a caller that asks for it ({@code link=true}) to the place of a blob.
   *
   * @param link gives its address; empty if there is none
   * @return null if the caller gets the bytes themselves
   */
  public static @Nullable Response link(Request request, Supplier<Optional<URI>> link) {
    if (!request.query().bool("link", false)) {
      return null;
    }
    URI address = link.get().orElse(null);
    return address == null
        ? null
        : new Response.Whole(
            307,
            Response.BYTES,
            // It is a credential.
            Map.of("Location", address.toString(), "Cache-Control", "no-store"),
            new byte[0]);
  }

  private static Response unsatisfied(long size) {
    return new Response.Whole(
        416,
        Response.JSON,
        Map.of("Content-Range", "bytes */" + size),
        Responses.writeError("the range begins at or after the end, which is at " + size));
  }

  private static Response whole(long size) {
    return new Response.Streamed(200, Response.BYTES, acceptRanges(), size, _ -> {});
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

  private Response delete(Request request) {
    String name = inReach(request);
    request.concerns(Area.BLOBS, name);
    if (!blobs.delete(name)) {
      throw HttpProblem.notFound("there is no blob " + name);
    }
    return Response.nothing();
  }

  private Response list(Request request) {
    Stream<Blob> listed =
        blobs
            .list(request.query().text("prefix").orElse(""))
            .filter(blob -> reaches(request, blob.name()));
    if (request.isHead()) {
      listed.close();
    }
    return Response.streamed(Response.JSON, target -> write(listed, target));
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

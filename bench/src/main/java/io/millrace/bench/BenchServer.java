package io.millrace.bench;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.millrace.http.ApiRoutes;
import io.millrace.http.ErrorResponses;
import io.millrace.http.HttpLimits;
import io.millrace.http.HttpServer;
import io.millrace.http.Routes;
import io.millrace.http.message.AsyncResponse;
import io.millrace.http.message.Response;
import io.millrace.server.HeapGoal;
import io.millrace.server.MillraceServer;
import io.millrace.server.config.Configuration;
import io.millrace.server.security.Access;
import io.millrace.server.security.Origins;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The server's side of a measurement, in a process of its own: the whole server, or the same
 * listener with only an echo behind it. Prints {@code port N} when it is ready, and {@code heap N},
 * the bytes that live on its heap, for each byte of its input. Ends when its input does.
 */
final class BenchServer {
  /** The path that returns what is sent to it. */
  static final String ECHO = "/echo";

  private BenchServer() {}

  /**
   * Runs the server.
   *
   * @param arguments none for the echo; otherwise the folder of the store, its journaling, and
   *     further settings, each as KEY=VALUE
   */
  public static void main(String[] arguments) throws IOException {
    if (arguments.length == 0) {
      HttpServer listener = echo();
      awaitEnd(listener.port());
      listener.stop();
    } else {
      try (MillraceServer server = store(List.of(arguments))) {
        HeapGoal.keep();
        awaitEnd(server.port());
      }
    }
  }

  private static MillraceServer store(List<String> arguments) {
    Map<String, String> settings = new HashMap<>();
    settings.put("server.port", "0");
    settings.put("store.data", arguments.get(0));
    settings.put("store.journal", arguments.get(1));
    // The first requests come while code is being loaded, perhaps on a busy machine.
    settings.put("jobs.worker.kick-after-ms", "30000");
    for (String each : arguments.subList(2, arguments.size())) {
      int equals = each.indexOf('=');
      settings.put(each.substring(0, equals), each.substring(equals + 1));
    }
    return MillraceServer.start(Configuration.read(MillraceServer.SECTIONS, null, settings));
  }

  private static HttpServer echo() {
    MeterRegistry registry = new SimpleMeterRegistry();
    Routes routes =
        new Routes(registry)
            .addAll(
                ApiRoutes.below(ECHO)
                    .post(
                        "",
                        (request, _) -> AsyncResponse.now(Response.json(request.body())),
                        request -> Response.json(request.body()))
                    .routes());
    InetAddress address = InetAddress.getLoopbackAddress();
    return HttpServer.start(
        address,
        0,
        HttpLimits.DEFAULT,
        Access.to(address, null, Origins.NONE),
        routes,
        new ErrorResponses());
  }

  private static void awaitEnd(int port) throws IOException {
    IO.println("port " + port);
    while (System.in.read() >= 0) {
      System.gc();
      IO.println("heap " + ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
    }
  }
}

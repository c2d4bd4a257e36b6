package io.millrace.http;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Answers the requests of one route without ever waiting. Called on a thread that serves many
 * connections, so what it does must be short: read the request, hand it on, say what is waited for.
 */
@FunctionalInterface
public interface PromptHandler {
  /**
   * Begins to answer a request, whose body has come as a whole.
   *
   * <p>Whatever is thrown has the same effect as null: the route's {@link Handler} is asked, as if
   * this one had not been. So nothing may have been done when it is thrown.
   *
   * @param round the turn of the loop; other requests may begin in it before the answers are
   *     written
   * @return what is waited for; null to leave the request to the route's {@link Handler}
   */
  @Nullable Later begin(Request request, Round round) throws IOException;
}

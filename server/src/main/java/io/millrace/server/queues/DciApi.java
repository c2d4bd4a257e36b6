package io.millrace.server.queues;

import io.millrace.blobs.BlobStore;
import io.millrace.http.ApiRoutes;
import io.millrace.http.ErrorReplies;
import io.millrace.http.Route;
import io.millrace.queues.ArchivedTasks;
import io.millrace.queues.OutputReader;
import io.millrace.queues.Queues;
import io.millrace.queues.QueuesException;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.queues.QueuesException.StoreFullException;
import io.millrace.queues.QueuesException.TaskStateException;
import io.millrace.queues.search.ArchiveSearch;
import io.millrace.server.security.BasicCredentials;
import io.millrace.server.security.Token;
import io.millrace.store.TaskStore;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The command interface of queues under {@code /dci}. */
public final class DciApi {
  private DciApi() {}

  /**
   * The routes.
   *
   * @param queues the queues
   * @param store where they and the documents of users lie
   * @param blobs where long outputs lie
   * @param token the server's, which clients may show by HTTP Basic too; null for none
   */
  public static List<Route> routes(
      Queues queues, TaskStore store, BlobStore blobs, @Nullable Token token) {
    ApiRoutes all =
        ApiRoutes.below("/dci").errors(Refusal.OBJECT).credentials(new BasicCredentials(token));
    DciRoutes api = new DciRoutes(all);
    OutputReader outputs = new OutputReader(queues, blobs);
    Shapes shapes = new Shapes(outputs);
    Plugins plugins = new Plugins(queues);
    ArchivedTasks archived = ArchivedTasks.in(blobs);
    ArchiveSearch search = ArchiveSearch.in(queues, archived);
    KnownTasks known = new KnownTasks(queues.tasks(), archived);
    UserDocuments documents = new UserDocuments(store);

    new NodeRoutes(queues.nodes()).addTo(api);
    new ConfigRoutes(queues.config(), queues.nodes()).addTo(api);
    QueueRoutes queueRoutes = new QueueRoutes(queues.queues(), plugins);
    queueRoutes.addTo(api);
    QueueEvents.addTo(api, queues, queueRoutes);
    TaskRoutes taskRoutes = new TaskRoutes(queues.tasks(), known, queueRoutes, documents, shapes);
    taskRoutes.addTo(api);
    new SearchRoutes(search, shapes).addTo(api);
    new WaitRoute(queues, archived).addTo(api);
    new OutputRoutes(known, outputs).addTo(api);
    new OldRoutes(queueRoutes, taskRoutes, documents, plugins).addTo(api);
    new OldSearch(search, shapes).addTo(api);
    return all.routes();
  }

  /** Says what the failures of queues mean to a client. */
  public static void addErrorReplies(ErrorReplies replies) {
    replies
        .addUnavailable(StoreFullException.class)
        .add(InvalidRequestException.class, 400)
        .add(TaskStateException.class, 400)
        .addUnavailable(QueuesException.class);
  }
}

package io.millrace.mongo;

import io.millrace.queues.QueueBackend;
import io.millrace.queues.QueueBackendContract;
import org.junit.jupiter.api.AfterEach;

class MongoQueueBackendTest extends QueueBackendContract {
  private final TestDatabase database = new TestDatabase();
  private final MongoQueues queues = database.node("77 start");

  @Override
  protected QueueBackend backend() {
    return queues;
  }

  @AfterEach
  void end() {
    queues.close();
    database.close();
  }
}

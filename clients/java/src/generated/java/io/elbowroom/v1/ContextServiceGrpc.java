package io.elbowroom.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * ContextService keeps an agent's conversation inside its model's context window and its prefix in the provider's cache.
 * Errors: INVALID_ARGUMENT with BadRequest (field path; for broken JSON also the byte offset), FAILED_PRECONDITION with
 * ErrorInfo (reason and index), RESOURCE_EXHAUSTED with RetryInfo when too many bytes are in flight, UNAVAILABLE with RetryInfo
 * when the summarizer failed under FAILURE_POLICY_ABORT or while the server drains. An error never returns half a conversation.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class ContextServiceGrpc {

  private ContextServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "elbowroom.v1.ContextService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<io.elbowroom.v1.CompressRequest,
      io.elbowroom.v1.CompressResponse> getCompressMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "Compress",
      requestType = io.elbowroom.v1.CompressRequest.class,
      responseType = io.elbowroom.v1.CompressResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.elbowroom.v1.CompressRequest,
      io.elbowroom.v1.CompressResponse> getCompressMethod() {
    io.grpc.MethodDescriptor<io.elbowroom.v1.CompressRequest, io.elbowroom.v1.CompressResponse> getCompressMethod;
    if ((getCompressMethod = ContextServiceGrpc.getCompressMethod) == null) {
      synchronized (ContextServiceGrpc.class) {
        if ((getCompressMethod = ContextServiceGrpc.getCompressMethod) == null) {
          ContextServiceGrpc.getCompressMethod = getCompressMethod =
              io.grpc.MethodDescriptor.<io.elbowroom.v1.CompressRequest, io.elbowroom.v1.CompressResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "Compress"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.elbowroom.v1.CompressRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.elbowroom.v1.CompressResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ContextServiceMethodDescriptorSupplier("Compress"))
              .build();
        }
      }
    }
    return getCompressMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.elbowroom.v1.StreamCompressRequest,
      io.elbowroom.v1.StreamCompressResponse> getStreamCompressMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "StreamCompress",
      requestType = io.elbowroom.v1.StreamCompressRequest.class,
      responseType = io.elbowroom.v1.StreamCompressResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
  public static io.grpc.MethodDescriptor<io.elbowroom.v1.StreamCompressRequest,
      io.elbowroom.v1.StreamCompressResponse> getStreamCompressMethod() {
    io.grpc.MethodDescriptor<io.elbowroom.v1.StreamCompressRequest, io.elbowroom.v1.StreamCompressResponse> getStreamCompressMethod;
    if ((getStreamCompressMethod = ContextServiceGrpc.getStreamCompressMethod) == null) {
      synchronized (ContextServiceGrpc.class) {
        if ((getStreamCompressMethod = ContextServiceGrpc.getStreamCompressMethod) == null) {
          ContextServiceGrpc.getStreamCompressMethod = getStreamCompressMethod =
              io.grpc.MethodDescriptor.<io.elbowroom.v1.StreamCompressRequest, io.elbowroom.v1.StreamCompressResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "StreamCompress"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.elbowroom.v1.StreamCompressRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.elbowroom.v1.StreamCompressResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ContextServiceMethodDescriptorSupplier("StreamCompress"))
              .build();
        }
      }
    }
    return getStreamCompressMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.elbowroom.v1.ApplyCacheControlRequest,
      io.elbowroom.v1.ApplyCacheControlResponse> getApplyCacheControlMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ApplyCacheControl",
      requestType = io.elbowroom.v1.ApplyCacheControlRequest.class,
      responseType = io.elbowroom.v1.ApplyCacheControlResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.elbowroom.v1.ApplyCacheControlRequest,
      io.elbowroom.v1.ApplyCacheControlResponse> getApplyCacheControlMethod() {
    io.grpc.MethodDescriptor<io.elbowroom.v1.ApplyCacheControlRequest, io.elbowroom.v1.ApplyCacheControlResponse> getApplyCacheControlMethod;
    if ((getApplyCacheControlMethod = ContextServiceGrpc.getApplyCacheControlMethod) == null) {
      synchronized (ContextServiceGrpc.class) {
        if ((getApplyCacheControlMethod = ContextServiceGrpc.getApplyCacheControlMethod) == null) {
          ContextServiceGrpc.getApplyCacheControlMethod = getApplyCacheControlMethod =
              io.grpc.MethodDescriptor.<io.elbowroom.v1.ApplyCacheControlRequest, io.elbowroom.v1.ApplyCacheControlResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ApplyCacheControl"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.elbowroom.v1.ApplyCacheControlRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.elbowroom.v1.ApplyCacheControlResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ContextServiceMethodDescriptorSupplier("ApplyCacheControl"))
              .build();
        }
      }
    }
    return getApplyCacheControlMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.elbowroom.v1.CountTokensRequest,
      io.elbowroom.v1.CountTokensResponse> getCountTokensMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "CountTokens",
      requestType = io.elbowroom.v1.CountTokensRequest.class,
      responseType = io.elbowroom.v1.CountTokensResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.elbowroom.v1.CountTokensRequest,
      io.elbowroom.v1.CountTokensResponse> getCountTokensMethod() {
    io.grpc.MethodDescriptor<io.elbowroom.v1.CountTokensRequest, io.elbowroom.v1.CountTokensResponse> getCountTokensMethod;
    if ((getCountTokensMethod = ContextServiceGrpc.getCountTokensMethod) == null) {
      synchronized (ContextServiceGrpc.class) {
        if ((getCountTokensMethod = ContextServiceGrpc.getCountTokensMethod) == null) {
          ContextServiceGrpc.getCountTokensMethod = getCountTokensMethod =
              io.grpc.MethodDescriptor.<io.elbowroom.v1.CountTokensRequest, io.elbowroom.v1.CountTokensResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "CountTokens"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.elbowroom.v1.CountTokensRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.elbowroom.v1.CountTokensResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ContextServiceMethodDescriptorSupplier("CountTokens"))
              .build();
        }
      }
    }
    return getCountTokensMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.elbowroom.v1.PrepareRequest,
      io.elbowroom.v1.PrepareResponse> getPrepareMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "Prepare",
      requestType = io.elbowroom.v1.PrepareRequest.class,
      responseType = io.elbowroom.v1.PrepareResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.elbowroom.v1.PrepareRequest,
      io.elbowroom.v1.PrepareResponse> getPrepareMethod() {
    io.grpc.MethodDescriptor<io.elbowroom.v1.PrepareRequest, io.elbowroom.v1.PrepareResponse> getPrepareMethod;
    if ((getPrepareMethod = ContextServiceGrpc.getPrepareMethod) == null) {
      synchronized (ContextServiceGrpc.class) {
        if ((getPrepareMethod = ContextServiceGrpc.getPrepareMethod) == null) {
          ContextServiceGrpc.getPrepareMethod = getPrepareMethod =
              io.grpc.MethodDescriptor.<io.elbowroom.v1.PrepareRequest, io.elbowroom.v1.PrepareResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "Prepare"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.elbowroom.v1.PrepareRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.elbowroom.v1.PrepareResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ContextServiceMethodDescriptorSupplier("Prepare"))
              .build();
        }
      }
    }
    return getPrepareMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.elbowroom.v1.SimulateCacheRequest,
      io.elbowroom.v1.SimulateCacheResponse> getSimulateCacheMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "SimulateCache",
      requestType = io.elbowroom.v1.SimulateCacheRequest.class,
      responseType = io.elbowroom.v1.SimulateCacheResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.elbowroom.v1.SimulateCacheRequest,
      io.elbowroom.v1.SimulateCacheResponse> getSimulateCacheMethod() {
    io.grpc.MethodDescriptor<io.elbowroom.v1.SimulateCacheRequest, io.elbowroom.v1.SimulateCacheResponse> getSimulateCacheMethod;
    if ((getSimulateCacheMethod = ContextServiceGrpc.getSimulateCacheMethod) == null) {
      synchronized (ContextServiceGrpc.class) {
        if ((getSimulateCacheMethod = ContextServiceGrpc.getSimulateCacheMethod) == null) {
          ContextServiceGrpc.getSimulateCacheMethod = getSimulateCacheMethod =
              io.grpc.MethodDescriptor.<io.elbowroom.v1.SimulateCacheRequest, io.elbowroom.v1.SimulateCacheResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "SimulateCache"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.elbowroom.v1.SimulateCacheRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.elbowroom.v1.SimulateCacheResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ContextServiceMethodDescriptorSupplier("SimulateCache"))
              .build();
        }
      }
    }
    return getSimulateCacheMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.elbowroom.v1.ListModelsRequest,
      io.elbowroom.v1.ListModelsResponse> getListModelsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListModels",
      requestType = io.elbowroom.v1.ListModelsRequest.class,
      responseType = io.elbowroom.v1.ListModelsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.elbowroom.v1.ListModelsRequest,
      io.elbowroom.v1.ListModelsResponse> getListModelsMethod() {
    io.grpc.MethodDescriptor<io.elbowroom.v1.ListModelsRequest, io.elbowroom.v1.ListModelsResponse> getListModelsMethod;
    if ((getListModelsMethod = ContextServiceGrpc.getListModelsMethod) == null) {
      synchronized (ContextServiceGrpc.class) {
        if ((getListModelsMethod = ContextServiceGrpc.getListModelsMethod) == null) {
          ContextServiceGrpc.getListModelsMethod = getListModelsMethod =
              io.grpc.MethodDescriptor.<io.elbowroom.v1.ListModelsRequest, io.elbowroom.v1.ListModelsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListModels"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.elbowroom.v1.ListModelsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.elbowroom.v1.ListModelsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ContextServiceMethodDescriptorSupplier("ListModels"))
              .build();
        }
      }
    }
    return getListModelsMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static ContextServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<ContextServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<ContextServiceStub>() {
        @java.lang.Override
        public ContextServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new ContextServiceStub(channel, callOptions);
        }
      };
    return ContextServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static ContextServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<ContextServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<ContextServiceBlockingV2Stub>() {
        @java.lang.Override
        public ContextServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new ContextServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return ContextServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static ContextServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<ContextServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<ContextServiceBlockingStub>() {
        @java.lang.Override
        public ContextServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new ContextServiceBlockingStub(channel, callOptions);
        }
      };
    return ContextServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static ContextServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<ContextServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<ContextServiceFutureStub>() {
        @java.lang.Override
        public ContextServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new ContextServiceFutureStub(channel, callOptions);
        }
      };
    return ContextServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * ContextService keeps an agent's conversation inside its model's context window and its prefix in the provider's cache.
   * Errors: INVALID_ARGUMENT with BadRequest (field path; for broken JSON also the byte offset), FAILED_PRECONDITION with
   * ErrorInfo (reason and index), RESOURCE_EXHAUSTED with RetryInfo when too many bytes are in flight, UNAVAILABLE with RetryInfo
   * when the summarizer failed under FAILURE_POLICY_ABORT or while the server drains. An error never returns half a conversation.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * Compress returns the conversation, shorter where it is time for it: old tool results become one line, the middle becomes a
     * structured summary, head and tail stay byte for byte.
     * </pre>
     */
    default void compress(io.elbowroom.v1.CompressRequest request,
        io.grpc.stub.StreamObserver<io.elbowroom.v1.CompressResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getCompressMethod(), responseObserver);
    }

    /**
     * <pre>
     * StreamCompress is Compress with progress: phases, the summary's text as it is written, then the result.
     * </pre>
     */
    default void streamCompress(io.elbowroom.v1.StreamCompressRequest request,
        io.grpc.stub.StreamObserver<io.elbowroom.v1.StreamCompressResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getStreamCompressMethod(), responseObserver);
    }

    /**
     * <pre>
     * ApplyCacheControl returns the conversation with cache breakpoints in the places the provider reads best.
     * </pre>
     */
    default void applyCacheControl(io.elbowroom.v1.ApplyCacheControlRequest request,
        io.grpc.stub.StreamObserver<io.elbowroom.v1.ApplyCacheControlResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getApplyCacheControlMethod(), responseObserver);
    }

    /**
     * <pre>
     * CountTokens returns the size of a conversation or text in tokens, with bounds.
     * </pre>
     */
    default void countTokens(io.elbowroom.v1.CountTokensRequest request,
        io.grpc.stub.StreamObserver<io.elbowroom.v1.CountTokensResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getCountTokensMethod(), responseObserver);
    }

    /**
     * <pre>
     * Prepare compresses if needed and marks: one round trip a turn.
     * </pre>
     */
    default void prepare(io.elbowroom.v1.PrepareRequest request,
        io.grpc.stub.StreamObserver<io.elbowroom.v1.PrepareResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getPrepareMethod(), responseObserver);
    }

    /**
     * <pre>
     * SimulateCache says what a sequence of requests reads from the provider's prompt cache, what it costs, and what was lost and why.
     * </pre>
     */
    default void simulateCache(io.elbowroom.v1.SimulateCacheRequest request,
        io.grpc.stub.StreamObserver<io.elbowroom.v1.SimulateCacheResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getSimulateCacheMethod(), responseObserver);
    }

    /**
     * <pre>
     * ListModels returns the models the server knows: window, tokenizer, thinking rules, smallest cacheable prefix.
     * </pre>
     */
    default void listModels(io.elbowroom.v1.ListModelsRequest request,
        io.grpc.stub.StreamObserver<io.elbowroom.v1.ListModelsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListModelsMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service ContextService.
   * <pre>
   * ContextService keeps an agent's conversation inside its model's context window and its prefix in the provider's cache.
   * Errors: INVALID_ARGUMENT with BadRequest (field path; for broken JSON also the byte offset), FAILED_PRECONDITION with
   * ErrorInfo (reason and index), RESOURCE_EXHAUSTED with RetryInfo when too many bytes are in flight, UNAVAILABLE with RetryInfo
   * when the summarizer failed under FAILURE_POLICY_ABORT or while the server drains. An error never returns half a conversation.
   * </pre>
   */
  public static abstract class ContextServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return ContextServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service ContextService.
   * <pre>
   * ContextService keeps an agent's conversation inside its model's context window and its prefix in the provider's cache.
   * Errors: INVALID_ARGUMENT with BadRequest (field path; for broken JSON also the byte offset), FAILED_PRECONDITION with
   * ErrorInfo (reason and index), RESOURCE_EXHAUSTED with RetryInfo when too many bytes are in flight, UNAVAILABLE with RetryInfo
   * when the summarizer failed under FAILURE_POLICY_ABORT or while the server drains. An error never returns half a conversation.
   * </pre>
   */
  public static final class ContextServiceStub
      extends io.grpc.stub.AbstractAsyncStub<ContextServiceStub> {
    private ContextServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected ContextServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new ContextServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * Compress returns the conversation, shorter where it is time for it: old tool results become one line, the middle becomes a
     * structured summary, head and tail stay byte for byte.
     * </pre>
     */
    public void compress(io.elbowroom.v1.CompressRequest request,
        io.grpc.stub.StreamObserver<io.elbowroom.v1.CompressResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getCompressMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * StreamCompress is Compress with progress: phases, the summary's text as it is written, then the result.
     * </pre>
     */
    public void streamCompress(io.elbowroom.v1.StreamCompressRequest request,
        io.grpc.stub.StreamObserver<io.elbowroom.v1.StreamCompressResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncServerStreamingCall(
          getChannel().newCall(getStreamCompressMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * ApplyCacheControl returns the conversation with cache breakpoints in the places the provider reads best.
     * </pre>
     */
    public void applyCacheControl(io.elbowroom.v1.ApplyCacheControlRequest request,
        io.grpc.stub.StreamObserver<io.elbowroom.v1.ApplyCacheControlResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getApplyCacheControlMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * CountTokens returns the size of a conversation or text in tokens, with bounds.
     * </pre>
     */
    public void countTokens(io.elbowroom.v1.CountTokensRequest request,
        io.grpc.stub.StreamObserver<io.elbowroom.v1.CountTokensResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getCountTokensMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Prepare compresses if needed and marks: one round trip a turn.
     * </pre>
     */
    public void prepare(io.elbowroom.v1.PrepareRequest request,
        io.grpc.stub.StreamObserver<io.elbowroom.v1.PrepareResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getPrepareMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * SimulateCache says what a sequence of requests reads from the provider's prompt cache, what it costs, and what was lost and why.
     * </pre>
     */
    public void simulateCache(io.elbowroom.v1.SimulateCacheRequest request,
        io.grpc.stub.StreamObserver<io.elbowroom.v1.SimulateCacheResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getSimulateCacheMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * ListModels returns the models the server knows: window, tokenizer, thinking rules, smallest cacheable prefix.
     * </pre>
     */
    public void listModels(io.elbowroom.v1.ListModelsRequest request,
        io.grpc.stub.StreamObserver<io.elbowroom.v1.ListModelsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListModelsMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service ContextService.
   * <pre>
   * ContextService keeps an agent's conversation inside its model's context window and its prefix in the provider's cache.
   * Errors: INVALID_ARGUMENT with BadRequest (field path; for broken JSON also the byte offset), FAILED_PRECONDITION with
   * ErrorInfo (reason and index), RESOURCE_EXHAUSTED with RetryInfo when too many bytes are in flight, UNAVAILABLE with RetryInfo
   * when the summarizer failed under FAILURE_POLICY_ABORT or while the server drains. An error never returns half a conversation.
   * </pre>
   */
  public static final class ContextServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<ContextServiceBlockingV2Stub> {
    private ContextServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected ContextServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new ContextServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * Compress returns the conversation, shorter where it is time for it: old tool results become one line, the middle becomes a
     * structured summary, head and tail stay byte for byte.
     * </pre>
     */
    public io.elbowroom.v1.CompressResponse compress(io.elbowroom.v1.CompressRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getCompressMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * StreamCompress is Compress with progress: phases, the summary's text as it is written, then the result.
     * </pre>
     */
    @io.grpc.ExperimentalApi("https://github.com/grpc/grpc-java/issues/10918")
    public io.grpc.stub.BlockingClientCall<?, io.elbowroom.v1.StreamCompressResponse>
        streamCompress(io.elbowroom.v1.StreamCompressRequest request) {
      return io.grpc.stub.ClientCalls.blockingV2ServerStreamingCall(
          getChannel(), getStreamCompressMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ApplyCacheControl returns the conversation with cache breakpoints in the places the provider reads best.
     * </pre>
     */
    public io.elbowroom.v1.ApplyCacheControlResponse applyCacheControl(io.elbowroom.v1.ApplyCacheControlRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getApplyCacheControlMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * CountTokens returns the size of a conversation or text in tokens, with bounds.
     * </pre>
     */
    public io.elbowroom.v1.CountTokensResponse countTokens(io.elbowroom.v1.CountTokensRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getCountTokensMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Prepare compresses if needed and marks: one round trip a turn.
     * </pre>
     */
    public io.elbowroom.v1.PrepareResponse prepare(io.elbowroom.v1.PrepareRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getPrepareMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * SimulateCache says what a sequence of requests reads from the provider's prompt cache, what it costs, and what was lost and why.
     * </pre>
     */
    public io.elbowroom.v1.SimulateCacheResponse simulateCache(io.elbowroom.v1.SimulateCacheRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getSimulateCacheMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListModels returns the models the server knows: window, tokenizer, thinking rules, smallest cacheable prefix.
     * </pre>
     */
    public io.elbowroom.v1.ListModelsResponse listModels(io.elbowroom.v1.ListModelsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListModelsMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service ContextService.
   * <pre>
   * ContextService keeps an agent's conversation inside its model's context window and its prefix in the provider's cache.
   * Errors: INVALID_ARGUMENT with BadRequest (field path; for broken JSON also the byte offset), FAILED_PRECONDITION with
   * ErrorInfo (reason and index), RESOURCE_EXHAUSTED with RetryInfo when too many bytes are in flight, UNAVAILABLE with RetryInfo
   * when the summarizer failed under FAILURE_POLICY_ABORT or while the server drains. An error never returns half a conversation.
   * </pre>
   */
  public static final class ContextServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<ContextServiceBlockingStub> {
    private ContextServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected ContextServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new ContextServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * Compress returns the conversation, shorter where it is time for it: old tool results become one line, the middle becomes a
     * structured summary, head and tail stay byte for byte.
     * </pre>
     */
    public io.elbowroom.v1.CompressResponse compress(io.elbowroom.v1.CompressRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getCompressMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * StreamCompress is Compress with progress: phases, the summary's text as it is written, then the result.
     * </pre>
     */
    public java.util.Iterator<io.elbowroom.v1.StreamCompressResponse> streamCompress(
        io.elbowroom.v1.StreamCompressRequest request) {
      return io.grpc.stub.ClientCalls.blockingServerStreamingCall(
          getChannel(), getStreamCompressMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ApplyCacheControl returns the conversation with cache breakpoints in the places the provider reads best.
     * </pre>
     */
    public io.elbowroom.v1.ApplyCacheControlResponse applyCacheControl(io.elbowroom.v1.ApplyCacheControlRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getApplyCacheControlMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * CountTokens returns the size of a conversation or text in tokens, with bounds.
     * </pre>
     */
    public io.elbowroom.v1.CountTokensResponse countTokens(io.elbowroom.v1.CountTokensRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getCountTokensMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Prepare compresses if needed and marks: one round trip a turn.
     * </pre>
     */
    public io.elbowroom.v1.PrepareResponse prepare(io.elbowroom.v1.PrepareRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getPrepareMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * SimulateCache says what a sequence of requests reads from the provider's prompt cache, what it costs, and what was lost and why.
     * </pre>
     */
    public io.elbowroom.v1.SimulateCacheResponse simulateCache(io.elbowroom.v1.SimulateCacheRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getSimulateCacheMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListModels returns the models the server knows: window, tokenizer, thinking rules, smallest cacheable prefix.
     * </pre>
     */
    public io.elbowroom.v1.ListModelsResponse listModels(io.elbowroom.v1.ListModelsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListModelsMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service ContextService.
   * <pre>
   * ContextService keeps an agent's conversation inside its model's context window and its prefix in the provider's cache.
   * Errors: INVALID_ARGUMENT with BadRequest (field path; for broken JSON also the byte offset), FAILED_PRECONDITION with
   * ErrorInfo (reason and index), RESOURCE_EXHAUSTED with RetryInfo when too many bytes are in flight, UNAVAILABLE with RetryInfo
   * when the summarizer failed under FAILURE_POLICY_ABORT or while the server drains. An error never returns half a conversation.
   * </pre>
   */
  public static final class ContextServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<ContextServiceFutureStub> {
    private ContextServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected ContextServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new ContextServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * Compress returns the conversation, shorter where it is time for it: old tool results become one line, the middle becomes a
     * structured summary, head and tail stay byte for byte.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.elbowroom.v1.CompressResponse> compress(
        io.elbowroom.v1.CompressRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getCompressMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * ApplyCacheControl returns the conversation with cache breakpoints in the places the provider reads best.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.elbowroom.v1.ApplyCacheControlResponse> applyCacheControl(
        io.elbowroom.v1.ApplyCacheControlRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getApplyCacheControlMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * CountTokens returns the size of a conversation or text in tokens, with bounds.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.elbowroom.v1.CountTokensResponse> countTokens(
        io.elbowroom.v1.CountTokensRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getCountTokensMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Prepare compresses if needed and marks: one round trip a turn.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.elbowroom.v1.PrepareResponse> prepare(
        io.elbowroom.v1.PrepareRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getPrepareMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * SimulateCache says what a sequence of requests reads from the provider's prompt cache, what it costs, and what was lost and why.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.elbowroom.v1.SimulateCacheResponse> simulateCache(
        io.elbowroom.v1.SimulateCacheRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getSimulateCacheMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * ListModels returns the models the server knows: window, tokenizer, thinking rules, smallest cacheable prefix.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.elbowroom.v1.ListModelsResponse> listModels(
        io.elbowroom.v1.ListModelsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListModelsMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_COMPRESS = 0;
  private static final int METHODID_STREAM_COMPRESS = 1;
  private static final int METHODID_APPLY_CACHE_CONTROL = 2;
  private static final int METHODID_COUNT_TOKENS = 3;
  private static final int METHODID_PREPARE = 4;
  private static final int METHODID_SIMULATE_CACHE = 5;
  private static final int METHODID_LIST_MODELS = 6;

  private static final class MethodHandlers<Req, Resp> implements
      io.grpc.stub.ServerCalls.UnaryMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.ServerStreamingMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.ClientStreamingMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.BidiStreamingMethod<Req, Resp> {
    private final AsyncService serviceImpl;
    private final int methodId;

    MethodHandlers(AsyncService serviceImpl, int methodId) {
      this.serviceImpl = serviceImpl;
      this.methodId = methodId;
    }

    @java.lang.Override
    @java.lang.SuppressWarnings("unchecked")
    public void invoke(Req request, io.grpc.stub.StreamObserver<Resp> responseObserver) {
      switch (methodId) {
        case METHODID_COMPRESS:
          serviceImpl.compress((io.elbowroom.v1.CompressRequest) request,
              (io.grpc.stub.StreamObserver<io.elbowroom.v1.CompressResponse>) responseObserver);
          break;
        case METHODID_STREAM_COMPRESS:
          serviceImpl.streamCompress((io.elbowroom.v1.StreamCompressRequest) request,
              (io.grpc.stub.StreamObserver<io.elbowroom.v1.StreamCompressResponse>) responseObserver);
          break;
        case METHODID_APPLY_CACHE_CONTROL:
          serviceImpl.applyCacheControl((io.elbowroom.v1.ApplyCacheControlRequest) request,
              (io.grpc.stub.StreamObserver<io.elbowroom.v1.ApplyCacheControlResponse>) responseObserver);
          break;
        case METHODID_COUNT_TOKENS:
          serviceImpl.countTokens((io.elbowroom.v1.CountTokensRequest) request,
              (io.grpc.stub.StreamObserver<io.elbowroom.v1.CountTokensResponse>) responseObserver);
          break;
        case METHODID_PREPARE:
          serviceImpl.prepare((io.elbowroom.v1.PrepareRequest) request,
              (io.grpc.stub.StreamObserver<io.elbowroom.v1.PrepareResponse>) responseObserver);
          break;
        case METHODID_SIMULATE_CACHE:
          serviceImpl.simulateCache((io.elbowroom.v1.SimulateCacheRequest) request,
              (io.grpc.stub.StreamObserver<io.elbowroom.v1.SimulateCacheResponse>) responseObserver);
          break;
        case METHODID_LIST_MODELS:
          serviceImpl.listModels((io.elbowroom.v1.ListModelsRequest) request,
              (io.grpc.stub.StreamObserver<io.elbowroom.v1.ListModelsResponse>) responseObserver);
          break;
        default:
          throw new AssertionError();
      }
    }

    @java.lang.Override
    @java.lang.SuppressWarnings("unchecked")
    public io.grpc.stub.StreamObserver<Req> invoke(
        io.grpc.stub.StreamObserver<Resp> responseObserver) {
      switch (methodId) {
        default:
          throw new AssertionError();
      }
    }
  }

  public static final io.grpc.ServerServiceDefinition bindService(AsyncService service) {
    return io.grpc.ServerServiceDefinition.builder(getServiceDescriptor())
        .addMethod(
          getCompressMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.elbowroom.v1.CompressRequest,
              io.elbowroom.v1.CompressResponse>(
                service, METHODID_COMPRESS)))
        .addMethod(
          getStreamCompressMethod(),
          io.grpc.stub.ServerCalls.asyncServerStreamingCall(
            new MethodHandlers<
              io.elbowroom.v1.StreamCompressRequest,
              io.elbowroom.v1.StreamCompressResponse>(
                service, METHODID_STREAM_COMPRESS)))
        .addMethod(
          getApplyCacheControlMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.elbowroom.v1.ApplyCacheControlRequest,
              io.elbowroom.v1.ApplyCacheControlResponse>(
                service, METHODID_APPLY_CACHE_CONTROL)))
        .addMethod(
          getCountTokensMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.elbowroom.v1.CountTokensRequest,
              io.elbowroom.v1.CountTokensResponse>(
                service, METHODID_COUNT_TOKENS)))
        .addMethod(
          getPrepareMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.elbowroom.v1.PrepareRequest,
              io.elbowroom.v1.PrepareResponse>(
                service, METHODID_PREPARE)))
        .addMethod(
          getSimulateCacheMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.elbowroom.v1.SimulateCacheRequest,
              io.elbowroom.v1.SimulateCacheResponse>(
                service, METHODID_SIMULATE_CACHE)))
        .addMethod(
          getListModelsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.elbowroom.v1.ListModelsRequest,
              io.elbowroom.v1.ListModelsResponse>(
                service, METHODID_LIST_MODELS)))
        .build();
  }

  private static abstract class ContextServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    ContextServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return io.elbowroom.v1.ContextServiceProto.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("ContextService");
    }
  }

  private static final class ContextServiceFileDescriptorSupplier
      extends ContextServiceBaseDescriptorSupplier {
    ContextServiceFileDescriptorSupplier() {}
  }

  private static final class ContextServiceMethodDescriptorSupplier
      extends ContextServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    ContextServiceMethodDescriptorSupplier(java.lang.String methodName) {
      this.methodName = methodName;
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.MethodDescriptor getMethodDescriptor() {
      return getServiceDescriptor().findMethodByName(methodName);
    }
  }

  private static volatile io.grpc.ServiceDescriptor serviceDescriptor;

  public static io.grpc.ServiceDescriptor getServiceDescriptor() {
    io.grpc.ServiceDescriptor result = serviceDescriptor;
    if (result == null) {
      synchronized (ContextServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new ContextServiceFileDescriptorSupplier())
              .addMethod(getCompressMethod())
              .addMethod(getStreamCompressMethod())
              .addMethod(getApplyCacheControlMethod())
              .addMethod(getCountTokensMethod())
              .addMethod(getPrepareMethod())
              .addMethod(getSimulateCacheMethod())
              .addMethod(getListModelsMethod())
              .build();
        }
      }
    }
    return result;
  }
}

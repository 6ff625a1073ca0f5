package tokens
import ("testing";"runtime";"time")
func TestDevLoad(t *testing.T){
 var a,b runtime.MemStats
 runtime.GC(); runtime.ReadMemStats(&a); c0:=time.Now()
 v3,v47:=newTilings(); v3.count(t.Context(),"x",true); d1:=time.Since(c0); c0=time.Now(); v47.count(t.Context(),"x",true); d2:=time.Since(c0)
 runtime.GC(); runtime.ReadMemStats(&b)
 t.Logf("load v3 %v, v47 after it %v, heap %d KB (two workers of 1 MB included)", d1,d2,(b.HeapAlloc-a.HeapAlloc)/1024); runtime.KeepAlive(v3); runtime.KeepAlive(v47)
}
